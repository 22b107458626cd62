package io.firstseen.filters.gcs;

/**
 * Where groups of buckets would begin if all buckets had equal numbers of bits, in integers.
 * Positions are below 2^35, the number of buckets is below 2^32.
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

  /** Where a group is expected to begin. */
  long at(long group) {
    return (group * slope) >>> FRACTION_BITS;
  }

  /**
   * Where the last group ends, and what is missing in it begins: each bucket that does not exist
   * counts as one of mean length, so that the last group's line is no steeper than the others'.
   */
  long beyond(long bucket) {
    return payloadBits + (bucket - bucketCount) * meanBits;
  }
}
