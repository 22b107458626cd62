package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.Universe;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a changed shard publishes a new base, and when its section holds the whole set
 * instead of the change. The rule is the same for all shards at all times, so that the same input
 * gives the same blobs.
 *
 * <p>All sets of a chain have one universe, with capacity for more keys than its first base has:
 * see {@link #headroomBits}. A shard begins a new chain, with a whole section and a base, in each
 * of these cases:
 *
 * <ol>
 *   <li>it has no base yet;
 *   <li>it has too many keys for the universe of the chain;
 *   <li>it has fewer than half of the keys that it had when the base was cut, rounded down;
 *   <li>the universe has room for more than four times its keys, and for more than 1,000.
 * </ol>
 *
 * <p>It publishes a base in addition to a change in each of these cases:
 *
 * <ol>
 *   <li>the sections since the base, this one included, have more than an eighth of the bytes of
 *       the base;
 *   <li>the base is {@value #MAX_AGE_WINDOWS} windows old.
 * </ol>
 *
 * <p>If a base is published with a change that is not smaller than the base's whole section, this
 * section replaces the change.
 *
 * @param set the false-positive rate and the number of shards
 * @param windowMillis the length of a window
 */
public record ChainRule(SetParameters set, long windowMillis) {

  /** The exponent of the minimum headroom: one more key per 64 live keys. */
  public static final int MIN_HEADROOM_BITS = 6;

  /** A set that outgrows its chain gets 2^3 times the headroom in the next chain. */
  private static final int MORE_HEADROOM_BITS = 3;

  /** The minimum headroom of a universe, in keys. */
  public static final int MIN_HEADROOM_KEYS = 32;

  /**
   * The maximum ratio of a universe's capacity to its keys; small sets may have a larger capacity.
   */
  private static final int ROOM_FACTOR = 4;

  private static final int ROOM_OF_SMALL_SETS = 1_000;

  /** The maximum ratio of the base's keys to the live keys. */
  public static final int KEYS_DIVISOR = 2;

  /** The minimum ratio of the base's bytes to the total bytes of the sections since the base. */
  public static final int SECTIONS_DIVISOR = 8;

  /** The maximum age of a base or a list of bases, in windows; a week if a window is an hour. */
  public static final int MAX_AGE_WINDOWS = 168;

  /** Returns whether a change can continue the published chain. */
  public boolean canContinue(@Nullable ShardChain chain, long keys) {
    return chain != null
        && chain.universe().keepsRate(keys, set.falsePositiveRate())
        && keys >= chain.baseKeys() / KEYS_DIVISOR
        && !isTooRoomy(chain.universe(), keys);
  }

  /**
   * Returns whether a set has shrunk so much that the empty buckets of its universe take too much
   * space.
   */
  private boolean isTooRoomy(Universe universe, long keys) {
    double room = universe.range().doubleValue() * set.falsePositiveRate();
    return room > Math.max(ROOM_OF_SMALL_SETS, (double) ROOM_FACTOR * (set.plannedKeys(keys) + 1));
  }

  /**
   * Returns the headroom of the universe of a new chain: capacity for one more key per 2^bits live
   * keys. A set that outgrows its chain gets eight times the headroom in the next chain, at most
   * its own number of keys, so that a growing set does not begin a new chain in each window. All
   * other sets get little headroom, because headroom costs bits per key: 0.02 with {@value
   * #MIN_HEADROOM_BITS}, 0.17 with 3, 1 with 0.
   */
  static int headroomBits(@Nullable ShardChain before, long keys) {
    boolean hasGrown = before != null && keys > before.baseKeys();
    return hasGrown ? Math.max(0, before.headroomBits() - MORE_HEADROOM_BITS) : MIN_HEADROOM_BITS;
  }

  /** Returns the universe of a new chain. */
  public Universe universe(long keys, int headroomBits) {
    long room = Math.max(MIN_HEADROOM_KEYS, keys >> headroomBits);
    long planned = set.plannedKeys(keys + room);
    double needed = planned / set.falsePositiveRate();
    if (needed > Math.scalb(1.0, Long.SIZE - 1 - set.shards().bits())) {
      return set.universeFor(keys);
    }
    return Universe.forRate(planned, set.falsePositiveRate());
  }

  /** Returns whether a base is due in addition to a change of this many bytes. */
  boolean needsBase(ShardChain chain, long bytes, long windowEndMillis) {
    return (chain.sectionBytes() + bytes) * SECTIONS_DIVISOR > chain.baseBytes()
        || isOld(chain.baseWindowEndMillis(), windowEndMillis);
  }

  /** Returns whether a blob has reached the maximum age, so that a new blob is due. */
  boolean isOld(long publishedWindowEndMillis, long windowEndMillis) {
    return windowEndMillis - publishedWindowEndMillis >= MAX_AGE_WINDOWS * windowMillis;
  }
}
