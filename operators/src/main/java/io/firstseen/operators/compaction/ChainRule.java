package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.types.ShardChain;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a changed shard publishes a new base, and when its section holds the whole set
 * instead of the change. The rule is the same for all shards at all times, so that the same input
 * gives the same blobs.
 *
 * <p>All sets of a chain have one universe, with room for some more keys than its first base has:
 * see {@link #headroomBits}. A shard begins a new chain, with a whole section and a base, in each
 * of these cases:
 *
 * <ol>
 *   <li>it has no base yet;
 *   <li>it has too many keys for the universe of the chain;
 *   <li>it has fewer keys than half of those when the base was cut, rounded down;
 *   <li>the universe has room for more than four times its keys, and for more than 1,000.
 * </ol>
 *
 * <p>It publishes a base beside a change in each of these cases:
 *
 * <ol>
 *   <li>the sections since the base, this one included, have more than an eighth of the bytes of
 *       the base;
 *   <li>the base is {@value #MAX_AGE_WINDOWS} windows old.
 * </ol>
 *
 * <p>A change that is not smaller than the whole section of the base beside it is replaced by that
 * section.
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

  /** The sections since a base may together have one byte for this many bytes of the base. */
  static final int SECTIONS_DIVISOR = 8;

  /** The highest age of a base or a list of bases, in windows; a week if a window is an hour. */
  static final int MAX_AGE_WINDOWS = 168;

  /** Whether a change can continue the published chain. */
  boolean goesOn(@Nullable ShardChain chain, long keys) {
    return chain != null
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

  /** The universe of a new chain. */
  Universe universe(long keys, int headroomBits) {
    long room = Math.max(LEAST_HEADROOM_KEYS, keys >> headroomBits);
    double needed = (keys + room) / set.falsePositiveRate();
    if (needed > Math.scalb(1.0, Long.SIZE - 1 - set.shards().bits())) {
      return set.universeFor(keys);
    }
    return Universe.forRate(keys + room, set.falsePositiveRate());
  }

  /** Whether a base is due beside a change of this many bytes. */
  boolean needsBase(ShardChain chain, long bytes, long windowEndMillis) {
    return (chain.sectionBytes() + bytes) * SECTIONS_DIVISOR > chain.baseBytes()
        || isOld(chain.baseWindowEndMillis(), windowEndMillis);
  }

  /** Whether a blob is so many windows old that another is due. */
  boolean isOld(long publishedWindowEndMillis, long windowEndMillis) {
    return windowEndMillis - publishedWindowEndMillis >= MAX_AGE_WINDOWS * windowMillis;
  }
}
