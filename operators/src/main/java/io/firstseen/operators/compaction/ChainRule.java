package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.types.ShardChain;

/**
 * When a changed shard publishes a new base beside, or instead of, a delta; the same for all shards
 * at all times, so that the same input gives the same blobs.
 *
 * <p>A base alone, of values with the fewest bits that keep the rate, which begins a new chain:
 *
 * <ol>
 *   <li>there is none yet;
 *   <li>the keys have become too many for the bits of the chain's values, as twice as many are;
 *   <li>they are fewer than half as many as when the base was cut.
 * </ol>
 *
 * <p>A base beside the delta that leads to the same set, so that the chain goes on:
 *
 * <ol>
 *   <li>the deltas since the base, this one included, have more than half the bytes of the base;
 *   <li>there are {@value #MAX_DELTAS} since the base, or as many as fit into a manifest on a topic
 *       ({@link #maxDeltas});
 *   <li>the base is {@value #MAX_AGE_WINDOWS} windows old.
 * </ol>
 *
 * <p>A delta that is no smaller than the base beside it is left out, and the chain begins anew.
 *
 * @param set what the rate and the shards are
 * @param windowMillis the length of a window
 */
record ChainRule(SetParameters set, long windowMillis) {

  /** The share of the base's keys that must still live is one in so many. */
  static final int KEYS_DIVISOR = 2;

  /** The share of the base's bytes that its deltas may have together is one in so many. */
  static final int DELTA_BYTES_DIVISOR = 2;

  /** As long as the way from a base to the newest set may be. */
  static final int MAX_DELTAS = 16;

  /** With windows of an hour, a week. */
  static final int MAX_AGE_WINDOWS = 168;

  /**
   * How many deltas a manifest may name for each shard: it is one record of a topic. Sets of more
   * shards than go to a topic have no such bound.
   */
  static int maxDeltas(int shards) {
    return shards > SnapshotTopicFormat.MAX_SHARDS
        ? Integer.MAX_VALUE
        : SnapshotTopicFormat.maxDeltas(shards);
  }

  /** Whether a delta can lead on from what was published, rather than a new base alone. */
  boolean goesOn(ShardChain chain, long keys) {
    return chain != null
        && maxDeltas(set.shards().count()) > 0
        && set.valueBitsFor(keys) <= chain.valueBits()
        && keys >= chain.baseKeys() / KEYS_DIVISOR;
  }

  /** Whether a base is due beside a delta of so many bytes. */
  boolean needsBase(ShardChain chain, long bytes, long windowEndMillis) {
    return (chain.deltaBytes() + bytes) * DELTA_BYTES_DIVISOR > chain.baseBytes()
        || chain.deltas() + 1 >= Math.min(MAX_DELTAS, maxDeltas(set.shards().count()))
        || windowEndMillis - chain.baseWindowEndMillis() >= MAX_AGE_WINDOWS * windowMillis;
  }
}
