package io.firstseen.filters.gcs;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;

/**
 * The values that a {@link GolombCodedSet} may hold: the numbers below {@code buckets · width},
 * divided into buckets of {@code width} values each. A 64-bit hash stands for the value floor(hash
 * · buckets · width / 2^64). Greater hashes have greater or equal values, and the bucket and the
 * position in the bucket are each computed with one multiplication.
 *
 * <p>All numbers are unsigned.
 *
 * @param buckets the number of buckets, in [1, 2^31]
 * @param width the number of values of a bucket, in [1, 2^62]; {@code buckets · width} is at most
 *     2^64
 */
public record Universe(long buckets, long width) {
  /** The highest number of buckets. */
  public static final long MAX_BUCKETS = 1L << 31;

  private static final int MAX_WIDTH_BITS = 62;
  private static final BigDecimal MAX_WIDTH = new BigDecimal(1L << MAX_WIDTH_BITS);
  private static final BigDecimal HASHES = new BigDecimal(BigInteger.ONE.shiftLeft(64));
  // The fewest buckets that can have 2^64 values.
  private static final int BUCKETS_OF_ALL_HASHES = 4;
  private static final int MIN_KEYS_PER_BUCKET = 27;
  // With so many keys in a bucket, the bucket starts take 0.3 bits per key. They are longer if the
  // codes are longer.
  private static final int KEYS_PER_BUCKET = 36;
  private static final int KEYS_PER_LONG_BUCKET = 38;
  private static final double LONG_BUCKETS_BELOW_RATE = 1.0 / 2_048;
  // A small set at the end of a chain whose sets were large has few keys per bucket. Only large
  // sets may have more buckets than this, because every bucket takes time to check.
  private static final int ALLOWED_BUCKETS = 1 << 16;
  private static final int MIN_KEYS_PER_ALLOWED_BUCKET = 8;

  /** Rejects numbers that are out of range. */
  public Universe {
    if (buckets < 1 || buckets > MAX_BUCKETS) {
      throw new IllegalArgumentException(
          "buckets must be in [1, " + MAX_BUCKETS + "], got " + Long.toUnsignedString(buckets));
    }
    if (width < 1 || width > 1L << MAX_WIDTH_BITS) {
      throw new IllegalArgumentException(
          "width must be in [1, 2^62], got " + Long.toUnsignedString(width));
    }
    if (Math.multiplyHigh(buckets, width) > 1
        || (Math.multiplyHigh(buckets, width) == 1 && buckets * width != 0)) {
      throw new IllegalArgumentException(
          "buckets · width must be at most 2^64, got " + buckets + " · " + width);
    }
  }

  /**
   * Returns the smallest universe with a few dozen keys in a bucket in which this many keys keep a
   * false-positive rate: keys / range is at most the rate. The comparison is exact.
   *
   * @param keys at least 0
   * @param falsePositiveRate in (0, 1)
   * @throws IllegalArgumentException if more than 2^64 values would be needed
   */
  public static Universe forRate(long keys, double falsePositiveRate) {
    if (keys < 0 || !(falsePositiveRate > 0 && falsePositiveRate < 1)) {
      throw new IllegalArgumentException(
          "keys must be at least 0 and the rate in (0, 1), got "
              + keys
              + " and "
              + falsePositiveRate);
    }
    long keysPerBucket =
        falsePositiveRate < LONG_BUCKETS_BELOW_RATE ? KEYS_PER_LONG_BUCKET : KEYS_PER_BUCKET;
    long filled = keys / keysPerBucket + (keys % keysPerBucket == 0 ? 0 : 1);
    long buckets = Math.min(MAX_BUCKETS, Math.max(1, filled));
    if (keys / falsePositiveRate / buckets > Math.scalb(1.0, MAX_WIDTH_BITS - 1)) {
      buckets = Math.max(buckets, BUCKETS_OF_ALL_HASHES);
    }
    BigDecimal bucketRate = new BigDecimal(falsePositiveRate).multiply(BigDecimal.valueOf(buckets));
    BigDecimal width =
        BigDecimal.valueOf(keys).divide(bucketRate, 0, RoundingMode.CEILING).max(BigDecimal.ONE);
    BigDecimal range = width.multiply(BigDecimal.valueOf(buckets));
    if (width.compareTo(MAX_WIDTH) > 0 || range.compareTo(HASHES) > 0) {
      throw new IllegalArgumentException(
          "%d keys at a rate of %s need too many values for hashes of 64 bits"
              .formatted(keys, falsePositiveRate));
    }
    return new Universe(buckets, width.longValueExact());
  }

  /**
   * Returns the numbers of {@code bits} bits, divided into a number of buckets that is a power of
   * two. The value of a hash is its first {@code bits} bits.
   *
   * @param bits 1 to 64
   * @param count how many values a set will have; from 27 on, a bucket has 27 to 54 of them if bits
   *     is at most 62
   */
  public static Universe ofBits(int bits, long count) {
    if (bits < 1 || bits > Long.SIZE) {
      throw new IllegalArgumentException("bits must be in [1, 64], got " + bits);
    }
    long wanted = Long.highestOneBit(Math.max(1, count / MIN_KEYS_PER_BUCKET));
    int bucketBits =
        Math.max(
            bits - MAX_WIDTH_BITS,
            Math.min(bits, Long.numberOfTrailingZeros(Math.min(wanted, MAX_BUCKETS))));
    return new Universe(1L << bucketBits, 1L << (bits - bucketBits));
  }

  /** Returns the number of values, at most 2^64. */
  public BigInteger range() {
    return BigInteger.valueOf(buckets).multiply(BigInteger.valueOf(width));
  }

  /** Returns the greatest value, unsigned. */
  public long greatest() {
    return buckets * width - 1;
  }

  /** Returns the value of a hash. */
  public long valueOf(long hash) {
    long range = buckets * width;
    // 2^64 itself wraps to 0. A signed product is too small if the top bit of a factor is set.
    return range == 0
        ? hash
        : Math.multiplyHigh(hash, range) + (hash >> 63 & range) + (range >> 63 & hash);
  }

  /** Returns whether this many keys keep a false-positive rate. The comparison is exact. */
  public boolean keepsRate(long keys, double falsePositiveRate) {
    return new BigDecimal(falsePositiveRate)
            .multiply(new BigDecimal(range()))
            .compareTo(BigDecimal.valueOf(keys))
        >= 0;
  }

  /** Returns the probability that a random hash has the value of one of this many. */
  public double rateOf(long values) {
    return values / range().doubleValue();
  }

  /** Returns the bucket of a hash. */
  long bucketOf(long hash) {
    // The signed product is buckets · 2^64 too small if the top bit of the hash is set.
    return Math.multiplyHigh(hash, buckets) + (hash >> 63 & buckets);
  }

  /** Returns the place of a hash in its bucket, from 0. */
  long placeOf(long hash) {
    long low = hash * buckets;
    return Math.multiplyHigh(low, width) + (low >> 63 & width);
  }

  /** Returns the bucket of a value. */
  long bucketOfValue(long value) {
    return Long.divideUnsigned(value, width);
  }

  /**
   * Returns the least value of a bucket; for the bucket after the last one the range, which may
   * wrap.
   */
  long lowerBound(long bucket) {
    return bucket * width;
  }

  boolean holds(long value) {
    return Long.compareUnsigned(value, greatest()) <= 0;
  }

  /**
   * Returns whether a set of so few values may have so many buckets, each of which takes time to
   * check.
   */
  public boolean fits(long count) {
    return buckets <= Math.max(ALLOWED_BUCKETS, count / MIN_KEYS_PER_ALLOWED_BUCKET);
  }

  /** Rejects a number of values that is too small for the buckets. */
  public void requireFits(long count) {
    if (!fits(count)) {
      throw new IllegalArgumentException(
          "a set of %d values cannot have %d buckets".formatted(count, buckets));
    }
  }

  IllegalArgumentException outside(long value) {
    return new IllegalArgumentException(
        "value must be at most "
            + Long.toUnsignedString(greatest())
            + ", got "
            + Long.toUnsignedString(value));
  }
}
