package io.firstseen.types;

import java.io.Serializable;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * When a dedup forgets its keys.
 *
 * <p>A key is forgotten no earlier than {@code millis} after its time, and no later than an eighth
 * of it after that. The length may change whenever a job is restored; clock and since are fixed for
 * the life of the state, and so is whether keys are forgotten at all.
 *
 * @param millis length, in [{@value #MIN_MILLIS}, {@value #MAX_MILLIS}]; rounded up to a multiple
 *     of 8
 * @param clock what time is
 * @param since which of a key's events is its time
 */
public record TimeToLive(long millis, Clock clock, Since since) implements Serializable {
  public static final long MIN_MILLIS = 1000;

  /** Some thousand years. */
  public static final long MAX_MILLIS = 1L << 46;

  /** What time is. */
  public enum Clock {
    /**
     * The events' timestamps, as far as the watermark has come. Replays the same, and stands still
     * while nothing comes.
     */
    EVENT,

    /** The clock of the machine. A replay may forget a key that it did not forget before. */
    PROCESSING;

    /** The name in options and in state. */
    public String id() {
      return idOf(this);
    }

    /**
     * The clock of a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Clock of(String id) {
      return constant("ttl clock", Clock.class, id);
    }
  }

  /** Which of a key's events is its time. */
  public enum Since {
    /** The one that was accepted: a key that keeps coming is accepted again and again. */
    FIRST_SEEN,

    /** The latest, also of the repeats: a key that keeps coming is a repeat for as long. */
    LAST_SEEN;

    /** The name in options and in state. */
    public String id() {
      return idOf(this);
    }

    /**
     * The one of a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Since of(String id) {
      return constant("ttl since", Since.class, id);
    }
  }

  public TimeToLive {
    if (millis < MIN_MILLIS || millis > MAX_MILLIS) {
      throw new IllegalArgumentException(
          "ttl must be in [" + MIN_MILLIS + ", " + MAX_MILLIS + "] ms, got " + millis);
    }
  }

  /** Of event time, since a key was first seen. */
  public static TimeToLive of(Duration length) {
    return new TimeToLive(length.toMillis(), Clock.EVENT, Since.FIRST_SEEN);
  }

  /** Length of an epoch: an eighth, rounded up. */
  public long epochMillis() {
    return (millis + 7) / 8;
  }

  /**
   * An instant at which an epoch of a shard begins: shards take turns, so that what is due does not
   * fall to one instant.
   *
   * @param shard number of the shard, in [0, shards)
   */
  public long phaseMillis(int shard, int shards) {
    return shard * epochMillis() / shards;
  }

  /** How many epochs of all shards have begun up to an instant; it counts from anywhere. */
  public long epochsBegun(long instantMillis, int shards) {
    long whole = Math.floorDiv(instantMillis, epochMillis());
    long rest = Math.floorMod(instantMillis, epochMillis());
    return whole * shards + ((rest + 1) * shards - 1) / epochMillis();
  }

  /** The same by another clock. */
  public TimeToLive by(Clock otherClock) {
    return new TimeToLive(millis, otherClock, since);
  }

  /** The same since another event. */
  public TimeToLive since(Since otherSince) {
    return new TimeToLive(millis, clock, otherSince);
  }

  private static String idOf(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static <E extends Enum<E>> E constant(String what, Class<E> type, String id) {
    for (E constant : type.getEnumConstants()) {
      if (idOf(constant).equals(id)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(
        what
            + " must be one of "
            + Arrays.stream(type.getEnumConstants())
                .map(TimeToLive::idOf)
                .collect(Collectors.joining(", "))
            + ", got '"
            + id
            + "'");
  }
}
