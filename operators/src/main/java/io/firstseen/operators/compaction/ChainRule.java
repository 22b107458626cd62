package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.types.ShardChain;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a changed shard publishes a new base beside, or instead of, a delta. The rule is the
 * same for all shards at all times, so that the same input gives the same blobs.
 *
 * <p>A shard publishes a base alone, and so begins a new chain, in each of these cases. The values
 * of that base have the fewest bits that keep the false-positive rate.
 *
 * <ol>
 *   <li>it has no base yet;
 *   <li>it has too many keys for the bits of the chain's values (twice as many keys always are);
 *   <li>it has fewer than half as many keys as when the base was cut.
 * </ol>
 *
 * <p>It publishes a base beside a delta that leads to the same set, and so continues the chain, in
 * each of these cases:
 *
 * <ol>
 *   <li>the deltas since the base, this one included, have more than half the bytes of the base;
 *   <li>there are {@value #MAX_DELTAS} deltas since the base, this one included, or as many as fit
 *       into a manifest on a topic ({@link #maxDeltas});
 *   <li>the base is {@value #MAX_AGE_WINDOWS} windows old.
 * </ol>
 *
 * <p>A delta that is not smaller than the base beside it is left out; the base then begins a new
 * chain.
 *
 * @param set the false-positive rate and the number of shards
 * @param windowMillis the length of a window
 */
record ChainRule(SetParameters set, long windowMillis) {

  /** At least one key must be live for this many keys of the base. */
  static final int KEYS_DIVISOR = 2;

  /** The deltas behind a base may together have one byte for this many bytes of the base. */
  static final int DELTA_BYTES_DIVISOR = 2;

  /** The highest number of deltas between a base and the newest set. */
  static final int MAX_DELTAS = 16;

  /** The highest age of a base, in windows; a week if a window is an hour. */
  static final int MAX_AGE_WINDOWS = 168;

  /**
   * How many deltas a manifest may name for each shard, so that it fits into one record of a topic.
   * There is no bound for sets with more shards than a topic supports.
   */
  static int maxDeltas(int shards) {
    return shards > SnapshotTopicFormat.MAX_SHARDS
        ? Integer.MAX_VALUE
        : SnapshotTopicFormat.maxDeltas(shards);
  }

  /** Whether a delta can continue the published chain; if not, a base alone is due. */
  boolean goesOn(@Nullable ShardChain chain, long keys) {
    return chain != null
        && maxDeltas(set.shards().count()) > 0
        && set.valueBitsFor(keys) <= chain.valueBits()
        && keys >= chain.baseKeys() / KEYS_DIVISOR;
  }

  /** Whether a base is due beside a delta of this many bytes. */
  boolean needsBase(ShardChain chain, long bytes, long windowEndMillis) {
    return (chain.deltaBytes() + bytes) * DELTA_BYTES_DIVISOR > chain.baseBytes()
        || chain.deltas() + 1 >= Math.min(MAX_DELTAS, maxDeltas(set.shards().count()))
        || windowEndMillis - chain.baseWindowEndMillis() >= MAX_AGE_WINDOWS * windowMillis;
  }
}
