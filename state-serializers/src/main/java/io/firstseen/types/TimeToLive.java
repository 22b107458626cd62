package io.firstseen.types;

import java.io.Serializable;
import java.time.Duration;

/**
 * When a dedup forgets its keys.
 *
 * <p>A key is forgotten no earlier than {@code millis} after its time, and no later than another
 * eighth of {@code millis} after that. The length may change at each restore. The clock, the event
 * that time is measured from, and whether there is a ttl at all are fixed for the life of the
 * state.
 *
 * @param millis the length, in [{@value #MIN_MILLIS}, {@value #MAX_MILLIS}]; a dedup rounds it up
 *     to a multiple of 8
 * @param clock the clock that measures time
 * @param since the event from which a key's time is measured
 */
public record TimeToLive(long millis, Clock clock, Since since) implements Serializable {
  public static final long MIN_MILLIS = 1000;

  /** About 2,200 years. */
  public static final long MAX_MILLIS = 1L << 46;

  /** The clock that measures time. */
  public enum Clock {
    /**
     * Event time, measured by the watermark. A replay has the same result. Time does not advance
     * while no events arrive.
     */
    EVENT,

    /** Processing time. A replay may forget a key that the first run did not forget. */
    PROCESSING;

    /** Returns the name in options and in state. */
    public String id() {
      return EnumIds.idOf(this);
    }

    /**
     * Returns the clock with an id.
     *
     * @throws IllegalArgumentException if no clock has this id
     */
    public static Clock of(String id) {
      return EnumIds.constant("ttl clock", Clock.class, id);
    }
  }

  /** The event from which a key's time is measured. */
  public enum Since {
    /** The accepted event: a repeated key is accepted again each time its ttl has expired. */
    FIRST_SEEN,

    /**
     * The latest event, including duplicates: a key that is repeated within the ttl stays a
     * duplicate.
     */
    LAST_SEEN;

    /** Returns the name in options and in state. */
    public String id() {
      return EnumIds.idOf(this);
    }

    /**
     * Returns the value with an id.
     *
     * @throws IllegalArgumentException if no value has this id
     */
    public static Since of(String id) {
      return EnumIds.constant("ttl since", Since.class, id);
    }
  }

  public TimeToLive {
    if (millis < MIN_MILLIS || millis > MAX_MILLIS) {
      throw outOfBounds(Long.toString(millis));
    }
  }

  /**
   * Returns a ttl in event time, measured from when a key was first seen.
   *
   * @throws IllegalArgumentException if the length is out of bounds
   */
  public static TimeToLive of(Duration length) {
    long millis;
    try {
      millis = length.toMillis();
    } catch (ArithmeticException e) {
      throw outOfBounds(length.toString());
    }
    return new TimeToLive(millis, Clock.EVENT, Since.FIRST_SEEN);
  }

  private static IllegalArgumentException outOfBounds(String got) {
    return new IllegalArgumentException(
        "ttl must be in [" + MIN_MILLIS + ", " + MAX_MILLIS + "] ms, got " + got);
  }

  /** Returns the length of an epoch: an eighth of the ttl, rounded up. */
  public long epochMillis() {
    return (millis + 7) / 8;
  }

  /**
   * Returns an instant at which an epoch of a shard begins. It differs between shards, so that the
   * keys of all shards are not due at one instant.
   *
   * @param shard number of the shard, in [0, shards)
   */
  public long phaseMillis(int shard, int shards) {
    return shard * epochMillis() / shards;
  }

  /**
   * Returns how many epochs of all shards have begun up to an instant, counted from an arbitrary
   * start.
   */
  public long epochsBegun(long instantMillis, int shards) {
    long whole = Math.floorDiv(instantMillis, epochMillis());
    long rest = Math.floorMod(instantMillis, epochMillis());
    return whole * shards + ((rest + 1) * shards - 1) / epochMillis();
  }

  /** Returns a copy with a different clock. */
  public TimeToLive by(Clock otherClock) {
    return new TimeToLive(millis, otherClock, since);
  }

  /** Returns a copy with a different event from which time is measured. */
  public TimeToLive since(Since otherSince) {
    return new TimeToLive(millis, clock, otherSince);
  }
}
