package io.firstseen.filters.gcs;

/**
 * Splits the numbers below 2^b into K ranges of nearly equal size: range i begins at ceil(i · 2^b /
 * K). Exact for every b up to 64 and every K up to 2^31; numbers are unsigned.
 */
final class BucketRanges {
  private final long bucketCount;
  private final int valueBits;
  private final long quotient;
  private final long remainder;

  BucketRanges(long bucketCount, int valueBits) {
    this.bucketCount = bucketCount;
    this.valueBits = valueBits;
    long last = -1L >>> (64 - valueBits);
    long k = Math.max(1, bucketCount);
    long q = Long.divideUnsigned(last, k);
    long r = Long.remainderUnsigned(last, k) + 1;
    // 2^b = quotient · K + remainder; 2^64 itself wraps to 0, as it does in lowerBound.
    this.quotient = r == k ? q + 1 : q;
    this.remainder = r == k ? 0 : r;
  }

  /** The range that a value lies in: floor(value · K / 2^b). */
  long bucketOf(long value) {
    long aligned = value << (64 - valueBits);
    // The signed product is K · 2^64 too small if the top bit of the factor is set.
    return Math.multiplyHigh(aligned, bucketCount) + (aligned >> 63 & bucketCount);
  }

  /** The lowest value of a range; for range K that is 2^b, which wraps to 0 when b is 64. */
  long lowerBound(long bucket) {
    return bucket * quotient + (bucket * remainder + bucketCount - 1) / bucketCount;
  }
}
