package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.types.ShardChain;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a changed shard publishes a new base beside, or instead of, a delta. The rule is the
 * same for all shards at all times, so that the same input gives the same blobs.
 *
 * <p>All sets of a chain have one universe, with room for some more keys than its first base has:
 * see {@link #headroomBits}. A shard publishes a base alone, and so begins a new chain, in each of
 * these cases:
 *
 * <ol>
 *   <li>it has no base yet;
 *   <li>it has too many keys for the universe of the chain;
 *   <li>it has fewer than half as many keys as when the base was cut;
 *   <li>the universe has room for more than four times its keys, and for more than 1,000.
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

  /** The exponent of the least room: for one more key for each 64 that live. */
  static final int LEAST_HEADROOM_BITS = 6;

  /** A chain that was outgrown is followed by one with 2^3 times the room. */
  private static final int MORE_HEADROOM_BITS = 3;

  /** A universe has room for at least this many more keys. */
  static final int LEAST_HEADROOM_KEYS = 32;

  /** A universe may have room for this many times the keys; smaller sets may have more room. */
  private static final int ROOM_FACTOR = 4;

  private static final int ROOM_OF_SMALL_SETS = 1_000;

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
        && hasDeltas()
        && chain.universe().keepsRate(keys, set.falsePositiveRate())
        && keys >= chain.baseKeys() / KEYS_DIVISOR
        && !isTooRoomy(chain.universe(), keys);
  }

  /** Whether a set has shrunk so far that the empty buckets of its universe cost too much. */
  private boolean isTooRoomy(Universe universe, long keys) {
    double room = universe.range().doubleValue() * set.falsePositiveRate();
    return room > Math.max(ROOM_OF_SMALL_SETS, (double) ROOM_FACTOR * (keys + 1));
  }

  /**
   * How much room the universe of a new chain has: for one more key for each 2^bits that live. A
   * set that outgrows its chain gets eight times as much in the next one, at most as many keys
   * again, so that a set that keeps growing does not begin a new chain in each window. All others
   * get little: room costs bits for each key, 0.02 with {@value #LEAST_HEADROOM_BITS}, 0.17 with 3,
   * 1 with 0.
   */
  static int headroomBits(@Nullable ShardChain before, long keys) {
    boolean hasGrown = before != null && keys > before.baseKeys();
    return hasGrown ? Math.max(0, before.headroomBits() - MORE_HEADROOM_BITS) : LEAST_HEADROOM_BITS;
  }

  private boolean hasDeltas() {
    return maxDeltas(set.shards().count()) > 0;
  }

  /** The universe of a new chain. Where no chain goes on, it has no room. */
  Universe universe(long keys, int headroomBits) {
    long room = hasDeltas() ? Math.max(LEAST_HEADROOM_KEYS, keys >> headroomBits) : 0;
    double needed = (keys + room) / set.falsePositiveRate();
    if (needed > Math.scalb(1.0, Long.SIZE - 1 - set.shards().bits())) {
      return set.universeFor(keys);
    }
    return Universe.forRate(keys + room, set.falsePositiveRate());
  }

  /** Whether a base is due beside a delta of this many bytes. */
  boolean needsBase(ShardChain chain, long bytes, long windowEndMillis) {
    return (chain.deltaBytes() + bytes) * DELTA_BYTES_DIVISOR > chain.baseBytes()
        || chain.deltas() + 1 >= Math.min(MAX_DELTAS, maxDeltas(set.shards().count()))
        || windowEndMillis - chain.baseWindowEndMillis() >= MAX_AGE_WINDOWS * windowMillis;
  }
}
