package io.firstseen.filters.bloom;

import io.firstseen.filters.MembershipFilter;

/**
 * A Bloom filter over the 64-bit hashes of keys. Keys can be added but not removed. The same keys
 * give the same filter in any order.
 *
 * <p>A key's k positions come from two hashes (Kirsch, Mitzenmacher: Less hashing, same
 * performance: building a better Bloom filter, ESA 2006), extended so that small filters keep the
 * rate as well as large ones. The hashes are mixes of the key's, so that hashes with bits in
 * common, such as those of one shard, serve as well as others; {@link BloomFormat} has the rule to
 * the bit and the figures.
 *
 * <p>Any number of threads may look up keys while none adds any.
 */
public final class BloomFilter implements MembershipFilter {
  private final BloomShape shape;
  private final long[] words;
  private long bitsSet;

  /** An empty filter. */
  public BloomFilter(BloomShape shape) {
    this(shape, new long[Math.toIntExact(shape.bits() / Long.SIZE)]);
  }

  /** A filter of these bits, which it keeps. */
  BloomFilter(BloomShape shape, long[] words) {
    this.shape = shape;
    this.words = words;
    for (long word : words) {
      bitsSet += Long.bitCount(word);
    }
  }

  /** An empty filter for an expected number of keys; see {@link BloomShape#forCapacity}. */
  public static BloomFilter forCapacity(long expectedKeys, double falsePositiveRate) {
    return new BloomFilter(BloomShape.forCapacity(expectedKeys, falsePositiveRate));
  }

  /**
   * Adds the key with this hash.
   *
   * @return whether the filter changed, which means that the key was not in it; false means that
   *     {@link #mightContain} was true before
   */
  public boolean add(long hash) {
    long before = bitsSet;
    // u runs over a cubic polynomial by its differences.
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
   * A new filter that holds the keys of both: bit for bit the one that all these keys would have
   * filled. Both must hold hashes made under one {@link io.firstseen.filters.key.KeyHash}; a filter
   * does not know its own.
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

  /** The size. */
  public BloomShape shape() {
    return shape;
  }

  /** The share of bits that are set, in [0, 1]; half of them at the capacity of a good shape. */
  public double fill() {
    return (double) bitsSet / shape.bits();
  }

  /**
   * {@inheritDoc}
   *
   * <p>From the bits that are set: fill^k. {@link BloomShape#predictedFalsePositiveRate} says it
   * from a number of keys.
   */
  @Override
  public double predictedFalsePositiveRate() {
    return Math.pow(fill(), shape.hashes());
  }

  /**
   * How many distinct keys were probably added, from the bits that are set: −m / k ln(1 − fill)
   * (Swamidass, Baldi: Mathematical correction for fingerprint similarity measures to improve
   * chemical retrieval, J. Chem. Inf. Model. 47(3), 2007). Infinite when all bits are set.
   */
  public double estimatedCount() {
    // No minus zero for the empty filter.
    return Math.abs(Math.log1p(-fill()) * shape.bits() / shape.hashes());
  }

  @Override
  public long sizeBytes() {
    return shape.bits() / Byte.SIZE;
  }

  /** The serialised form, see {@link BloomFormat}: same shape and same keys, same bytes. */
  public byte[] toBytes() {
    return BloomFormat.write(shape, words);
  }

  /**
   * The filter that {@link #toBytes} wrote.
   *
   * @throws MalformedBloomFilterException if {@code bytes} are anything else
   */
  public static BloomFilter fromBytes(byte[] bytes) throws MalformedBloomFilterException {
    return BloomFormat.read(bytes);
  }
}
