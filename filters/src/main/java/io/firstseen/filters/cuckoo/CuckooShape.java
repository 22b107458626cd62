package io.firstseen.filters.cuckoo;

/**
 * The length of a filter's identities. Together with the number of keys it determines the
 * false-positive rate.
 *
 * <p>An identity is the fingerprint that a key keeps for life: the top {@code identityBits} (P)
 * bits of its hash, read as {@code tag | core (8 bits, never 0) | bucket (9 bits)}. The leading
 * bits of the tag choose the page.
 *
 * @param identityBits P, in [{@value #MIN_IDENTITY_BITS}, {@value #MAX_IDENTITY_BITS}]
 */
public record CuckooShape(int identityBits) {
  /** The minimum number of bits of an identity: bucket, core, and three bits for splits. */
  public static final int MIN_IDENTITY_BITS = 20;

  /** The maximum number of bits of an identity. */
  public static final int MAX_IDENTITY_BITS = 57;

  /** The maximum rate that may be requested. */
  public static final double MAX_FALSE_POSITIVE_RATE = 0.1;

  static final int BUCKET_BITS = 9;
  static final int CORE_BITS = 8;
  static final int BUCKETS = 1 << BUCKET_BITS;

  /** The place of a text tag in an identity: above core and bucket. */
  static final int TEXT_TAG_SHIFT = BUCKET_BITS + CORE_BITS;

  static final int CORE_MASK = (1 << CORE_BITS) - 1;

  /** Pages are numbered by integers, {@code 1 << depth | prefix}. */
  static final int MAX_DEPTH = 30;

  /**
   * Core 0 is replaced by core 1, so two of 256 cores share one value: two cores agree with
   * probability 258/65536 instead of 1/256.
   */
  private static final double CORE_AGREEMENT = 258.0 / 256.0;

  public CuckooShape {
    if (identityBits < MIN_IDENTITY_BITS || identityBits > MAX_IDENTITY_BITS) {
      throw new IllegalArgumentException(
          "identityBits must be in ["
              + MIN_IDENTITY_BITS
              + ", "
              + MAX_IDENTITY_BITS
              + "], got "
              + identityBits);
    }
  }

  /**
   * Returns the shape for a target rate and an expected number of keys: P = ceil(log2 (2 n /
   * rate)). As core 0 counts as core 1, its rate may be up to 0.8 % above the target.
   *
   * @param expectedKeys expected number of keys, at least 1
   * @param falsePositiveRate target rate at that number, in (0, {@value #MAX_FALSE_POSITIVE_RATE}]
   * @throws IllegalArgumentException if a parameter is out of bounds, or both together need
   *     identities longer than {@value #MAX_IDENTITY_BITS} bits
   */
  public static CuckooShape forCapacity(long expectedKeys, double falsePositiveRate) {
    if (expectedKeys < 1) {
      throw new IllegalArgumentException("expectedKeys must be at least 1, got " + expectedKeys);
    }
    if (!(falsePositiveRate > 0 && falsePositiveRate <= MAX_FALSE_POSITIVE_RATE)) {
      throw new IllegalArgumentException(
          "falsePositiveRate must be in (0, "
              + MAX_FALSE_POSITIVE_RATE
              + "], got "
              + falsePositiveRate);
    }
    int bits = MIN_IDENTITY_BITS;
    while (bits < MAX_IDENTITY_BITS
        && matchProbability(bits) * expectedKeys > falsePositiveRate * CORE_AGREEMENT) {
      bits++;
    }
    if (matchProbability(bits) * expectedKeys > falsePositiveRate * CORE_AGREEMENT) {
      throw new IllegalArgumentException(
          "expectedKeys / falsePositiveRate must be at most 2^"
              + (MAX_IDENTITY_BITS - 1)
              + ", got "
              + expectedKeys
              + " / "
              + falsePositiveRate);
    }
    return new CuckooShape(bits);
  }

  /**
   * Returns the probability that a key that was never inserted is found in a filter with {@code
   * count} keys: {@code 1 - exp(-2 c n / 2^P)} with c = 258 / 256, as core 0 counts as core 1. It
   * depends neither on the growth nor on the deletions so far.
   */
  public double predictedFalsePositiveRate(long count) {
    return -Math.expm1(-matchProbability(identityBits) * count);
  }

  private static double matchProbability(int identityBits) {
    return Math.scalb(2 * CORE_AGREEMENT, -identityBits);
  }

  /** Returns the identity of a key, from its hash; only the top P bits of the hash are read. */
  public long identity(long hash) {
    long identity = hash >>> (Long.SIZE - identityBits);
    return (identity & ((long) CORE_MASK << BUCKET_BITS)) == 0
        ? identity | (1L << BUCKET_BITS)
        : identity;
  }

  /**
   * Returns the number of bits of an identity above core and bucket, which is the maximum number of
   * splits above a page.
   */
  int tagBits() {
    return identityBits - CORE_BITS - BUCKET_BITS;
  }

  /** Returns the leading {@code depth} bits of an identity. */
  int prefix(long identity, int depth) {
    return (int) (identity >>> (identityBits - depth));
  }

  /** Returns the lowest number with this prefix. It has core 0, so it is not an identity. */
  long firstIdentity(int prefix, int depth) {
    return (long) prefix << (identityBits - depth);
  }

  /** Returns the identity after a change of the last bit of its prefix of the given depth. */
  public long sibling(long identity, int depth) {
    return identity ^ (1L << (identityBits - depth));
  }

  /** Returns the number of bits of a slot in a page of the given depth. */
  int slotBits(int depth) {
    return identityBits - BUCKET_BITS - depth;
  }

  /** Returns whether a page of the given depth has a stored bit above text tags to split by. */
  boolean canSplit(int depth, int textTagBits) {
    return depth < Math.min(tagBits() - textTagBits, MAX_DEPTH);
  }
}
