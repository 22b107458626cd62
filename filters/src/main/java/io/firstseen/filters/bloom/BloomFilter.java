package io.firstseen.filters.bloom;

import io.firstseen.filters.MembershipFilter;

/**
 * A Bloom filter over the 64-bit hashes of keys. Keys can be added but not removed. The same keys
 * give the same filter in any order.
 *
 * <p>A key's k positions come from two hashes (Kirsch, Mitzenmacher: Less hashing, same
 * performance: building a better Bloom filter, ESA 2006), extended so that small filters keep the
 * false-positive rate as well as large ones. Both are mixed from the key's hash, so that keys whose
 * hashes share bits, such as the keys of one shard, do not raise the false-positive rate. {@link
 * BloomFormat} specifies the rule and lists measured rates.
 *
 * <p>Any number of threads may look up keys as long as no thread adds one.
 */
public final class BloomFilter implements MembershipFilter {
  private final BloomShape shape;
  private final long[] words;
  private long bitsSet;

  /** Creates an empty filter. */
  public BloomFilter(BloomShape shape) {
    this(shape, new long[Math.toIntExact(shape.bits() / Long.SIZE)]);
  }

  /** Creates a filter over these bits, which are not copied. */
  BloomFilter(BloomShape shape, long[] words) {
    this.shape = shape;
    this.words = words;
    for (long word : words) {
      bitsSet += Long.bitCount(word);
    }
  }

  /** Creates an empty filter for an expected number of keys; see {@link BloomShape#forCapacity}. */
  public static BloomFilter forCapacity(long expectedKeys, double falsePositiveRate) {
    return new BloomFilter(BloomShape.forCapacity(expectedKeys, falsePositiveRate));
  }

  /**
   * Adds the key with this hash.
   *
   * @return true if the filter changed, so it did not contain the key; false if {@link
   *     #mightContain} already returned true
   */
  public boolean add(long hash) {
    long before = bitsSet;
    // Evaluates the cubic polynomial u_i by its differences.
    long u = BloomFormat.firstHash(hash);
    long difference = BloomFormat.secondHash(u);
    long second = u << 32;
    long third = difference << 32;
    for (int i = 0; i < shape.hashes(); i++) {
      long bit = BloomFormat.bitIndex(u, shape.bits());
      int word = (int) (bit >>> 6);
      long mask = 1L << bit;
      bitsSet += (words[word] & mask) == 0 ? 1 : 0;
      words[word] |= mask;
      u += difference;
      difference += second;
      second += third;
    }
    return bitsSet != before;
  }

  @Override
  public boolean mightContain(long hash) {
    long u = BloomFormat.firstHash(hash);
    long difference = BloomFormat.secondHash(u);
    long second = u << 32;
    long third = difference << 32;
    for (int i = 0; i < shape.hashes(); i++) {
      long bit = BloomFormat.bitIndex(u, shape.bits());
      if ((words[(int) (bit >>> 6)] & (1L << bit)) == 0) {
        return false;
      }
      u += difference;
      difference += second;
      second += third;
    }
    return true;
  }

  /**
   * Returns a new filter with the keys of both; it has the same bits as a filter to which all these
   * keys were added. Both must hold hashes of the same {@link io.firstseen.filters.key.KeyHash};
   * this is not checked.
   *
   * @throws IllegalArgumentException if the shapes differ
   */
  public BloomFilter union(BloomFilter other) {
    if (!shape.equals(other.shape)) {
      throw new IllegalArgumentException(
          "Bloom filters must have one shape to be united, got %d bits with %d hashes and %d bits with %d hashes"
              .formatted(shape.bits(), shape.hashes(), other.shape.bits(), other.shape.hashes()));
    }
    long[] united = words.clone();
    for (int i = 0; i < united.length; i++) {
      united[i] |= other.words[i];
    }
    return new BloomFilter(shape, united);
  }

  /** Returns the size. */
  public BloomShape shape() {
    return shape;
  }

  /**
   * Returns the share of bits that are set, in [0, 1]; about 0.5 when a well-chosen shape reaches
   * its capacity.
   */
  public double fill() {
    return (double) bitsSet / shape.bits();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Computed from the set bits as fill^k. {@link BloomShape#predictedFalsePositiveRate} computes
   * it from a number of keys.
   */
  @Override
  public double predictedFalsePositiveRate() {
    return Math.pow(fill(), shape.hashes());
  }

  /**
   * Estimates the number of distinct keys that were added, from the number of set bits: −m / k ln(1
   * − fill) (Swamidass, Baldi: Mathematical correction for fingerprint similarity measures to
   * improve chemical retrieval, J. Chem. Inf. Model. 47(3), 2007). Infinite when all bits are set.
   */
  public double estimatedCount() {
    // Math.abs avoids minus zero for the empty filter.
    return Math.abs(Math.log1p(-fill()) * shape.bits() / shape.hashes());
  }

  @Override
  public long sizeBytes() {
    return shape.bits() / Byte.SIZE;
  }

  /**
   * Returns the serialised form, see {@link BloomFormat}: the same shape and keys give the same
   * bytes.
   */
  public byte[] toBytes() {
    return BloomFormat.write(shape, words);
  }

  /**
   * Reads a filter that {@link #toBytes} wrote.
   *
   * @throws MalformedBloomFilterException if {@code bytes} are not a serialised filter
   */
  public static BloomFilter fromBytes(byte[] bytes) throws MalformedBloomFilterException {
    return BloomFormat.read(bytes);
  }
}
