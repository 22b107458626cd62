package io.firstseen.filters.cuckoo;

/**
 * The two buckets of an identity.
 *
 * <p>The alternate bucket depends on the bucket and the core alone, as in partial-key cuckoo
 * hashing (Fan et al. 2014, section 3.1), so a stored slot can move without its key. The step is
 * odd, so the two buckets always differ.
 */
final class BucketPairs {
  private static final short[] STEP = new short[CuckooShape.CORE_MASK + 1];

  static {
    for (int core = 0; core < STEP.length; core++) {
      int mixed = core * 0x9E3779B1;
      mixed ^= mixed >>> 15;
      mixed *= 0x85EBCA77;
      STEP[core] = (short) ((mixed >>> (Integer.SIZE - CuckooShape.BUCKET_BITS)) | 1);
    }
  }

  private BucketPairs() {}

  static int bucket(long identity) {
    return (int) identity & (CuckooShape.BUCKETS - 1);
  }

  static int core(long identity) {
    return (int) (identity >>> CuckooShape.BUCKET_BITS) & CuckooShape.CORE_MASK;
  }

  /** Returns the other possible bucket of a slot with this core. */
  static int alternate(int bucket, int core) {
    return bucket ^ STEP[core];
  }

  /**
   * Returns the representative of an identity: of the two identities that differ only in which of
   * the same two buckets they name, the one that names the lower bucket. Both count as one
   * identity.
   */
  static long lower(long identity) {
    return Math.min(identity, other(identity));
  }

  /** Returns the identity that differs only in which of the same two buckets it names. */
  static long other(long identity) {
    return identity ^ STEP[core(identity)];
  }
}
