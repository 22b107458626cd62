package io.firstseen.filters.bloom;

/**
 * The size of a Bloom filter. Filters of one shape can be united.
 *
 * @param bits the number of bits m, a multiple of 64 in [64, {@link #MAX_BITS}]
 * @param hashes the number of bits k that each key sets, in [1, {@link #MAX_HASHES}]
 */
public record BloomShape(long bits, int hashes) {
  /**
   * The maximum number of bits. The serialised form still fits in one byte array, just under 2 GiB.
   */
  public static final long MAX_BITS = (1L << 34) - 256;

  /**
   * The maximum number of bits that a key sets; rates that need more cannot be reached with a
   * 64-bit hash.
   */
  public static final int MAX_HASHES = 64;

  /** The highest false-positive rate of {@link #forCapacity}. */
  public static final double MAX_FALSE_POSITIVE_RATE = 0.5;

  /** Rejects sizes that are out of bounds. */
  public BloomShape {
    if (bits < Long.SIZE || bits > MAX_BITS || bits % Long.SIZE != 0) {
      throw new IllegalArgumentException(
          "bits must be a multiple of 64 in [64, " + MAX_BITS + "], got " + bits);
    }
    if (hashes < 1 || hashes > MAX_HASHES) {
      throw new IllegalArgumentException(
          "hashes must be in [1, " + MAX_HASHES + "], got " + hashes);
    }
  }

  /**
   * Returns the smallest shape that holds {@code expectedKeys} distinct keys at {@code
   * falsePositiveRate} or less.
   *
   * <p>k = round(log2(1 / p)), which equals the textbook's round(m / n ln 2) with m = n ln(1 / p) /
   * ln² 2. Because k is rounded, m is then computed from the formula of {@link
   * #predictedFalsePositiveRate} for this k. It is never less than the textbook's m, and at most a
   * few per cent more.
   *
   * @param expectedKeys n, at least 1
   * @param falsePositiveRate p, in (0, 0.5]
   * @throws IllegalArgumentException if an argument is out of its bounds, or if the filter would
   *     need more than {@link #MAX_BITS}
   */
  public static BloomShape forCapacity(long expectedKeys, double falsePositiveRate) {
    if (expectedKeys < 1) {
      throw new IllegalArgumentException("expectedKeys must be at least 1, got " + expectedKeys);
    }
    // Written so that NaN is rejected.
    if (!(falsePositiveRate > 0 && falsePositiveRate <= MAX_FALSE_POSITIVE_RATE)) {
      throw new IllegalArgumentException(
          "falsePositiveRate must be in (0, "
              + MAX_FALSE_POSITIVE_RATE
              + "], got "
              + falsePositiveRate);
    }
    long rounded = Math.round(-Math.log(falsePositiveRate) / Math.log(2));
    int hashes = (int) Math.min(Math.max(1, rounded), MAX_HASHES);
    double fill = Math.pow(falsePositiveRate, 1.0 / hashes);
    double clearedByOneBit = Math.log1p(-fill) / ((double) hashes * expectedKeys);
    double bits = -1 / Math.expm1(clearedByOneBit);
    double words = Math.max(1, Math.ceil(bits / Long.SIZE));
    if (!(words * Long.SIZE <= MAX_BITS)) {
      throw new IllegalArgumentException(
          "a Bloom filter must have at most %d bits, but %d keys at a rate of %s need %.0f"
              .formatted(MAX_BITS, expectedKeys, falsePositiveRate, bits));
    }
    return new BloomShape((long) (words * Long.SIZE), hashes);
  }

  /**
   * Returns the false-positive rate to expect after {@code keys} distinct keys: (1 − (1 − 1/m)^(k
   * keys))^k (Bloom, Space/time trade-offs in hash coding with allowable errors, CACM 13(7), 1970,
   * in its usual form).
   *
   * @throws IllegalArgumentException if {@code keys} is negative
   */
  public double predictedFalsePositiveRate(long keys) {
    if (keys < 0) {
      throw new IllegalArgumentException("keys must be at least 0, got " + keys);
    }
    double fill = -Math.expm1((double) hashes * keys * Math.log1p(-1.0 / bits));
    return Math.pow(fill, hashes);
  }
}
