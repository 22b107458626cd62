package io.firstseen.filters.key;

import java.io.Serializable;

/**
 * A division of the 64-bit hash space into equal shards by the top bits of the hash.
 *
 * @param count the number of shards, a power of two in [1, 65536]
 */
public record Shards(int count) implements Serializable {
  /** The largest number of shards. */
  public static final int MAX_COUNT = 65_536;

  /** Rejects a count that is not a power of two in [1, 65536]. */
  public Shards {
    if (count < 1 || count > MAX_COUNT || Integer.bitCount(count) != 1) {
      throw new IllegalArgumentException(
          "shards must be a power of two in [1, " + MAX_COUNT + "], got " + count);
    }
  }

  /** Returns the number of shard bits: log2(count), 0 to 16. */
  public int bits() {
    return Integer.numberOfTrailingZeros(count);
  }

  /** Returns the shard of {@code hash}: its top {@link #bits()} bits, in [0, count). */
  public int shardOf(long hash) {
    // Two steps, because Java shifts by the distance modulo 64: a shift by 64 would do nothing.
    return (int) (hash >>> 1 >>> (63 - bits()));
  }

  /**
   * Returns the suffix of {@code hash}, which is its {@code 64 - bits()} bits below the shard bits,
   * shifted to the top and followed by zeros.
   */
  public long suffix(long hash) {
    return hash << bits();
  }
}
