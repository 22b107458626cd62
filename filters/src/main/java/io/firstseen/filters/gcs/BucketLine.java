package io.firstseen.filters.gcs;

/**
 * The positions at which groups of buckets would begin if all buckets had the same number of bits,
 * computed in integers. Positions are below 2^35, the number of buckets is below 2^32.
 */
final class BucketLine {
  private static final int FRACTION_BITS = 16;

  private final long bucketCount;
  private final long payloadBits;
  private final long slope;
  private final long meanBits;

  BucketLine(long bucketCount, long payloadBits) {
    long buckets = Math.max(1, bucketCount);
    this.bucketCount = bucketCount;
    this.payloadBits = payloadBits;
    this.slope = (payloadBits << (FRACTION_BITS + BucketStarts.GROUP_BITS)) / buckets;
    this.meanBits = payloadBits / buckets;
  }

  static long groupCount(long bucketCount) {
    return (bucketCount + BucketStarts.GROUP - 1) >>> BucketStarts.GROUP_BITS;
  }

  long payloadBits() {
    return payloadBits;
  }

  /** Returns the expected start of a group. */
  long at(long group) {
    return (group * slope) >>> FRACTION_BITS;
  }

  /**
   * Returns the start of a bucket after the last one, which only fills up the last group. Such
   * buckets count with the mean length, so that the last group's line has the same slope as the
   * others'.
   */
  long beyond(long bucket) {
    return payloadBits + (bucket - bucketCount) * meanBits;
  }
}
