package io.firstseen.operators.compaction;

import java.util.Arrays;

/** A part of {@link SnapshotModel}: event time where inputs meet. It never goes back. */
final class ModelTime {
  private final long[] heard;
  private final boolean[] idle;
  private final boolean canBeIdle;
  private long now = Long.MIN_VALUE;

  /** If false, an input that reports idleness still counts. */
  ModelTime(int inputs, boolean canBeIdle) {
    this.canBeIdle = canBeIdle;
    heard = new long[inputs];
    idle = new boolean[inputs];
    Arrays.fill(heard, Long.MIN_VALUE);
  }

  long now() {
    return now;
  }

  /**
   * Handles a watermark; returns true if time advanced. Time is the minimum of the active inputs.
   */
  boolean watermark(int input, long millis) {
    if (idle[input] || millis <= heard[input]) {
      return false;
    }
    heard[input] = millis;
    return reach(leastThatCounts());
  }

  /**
   * An idle input no longer holds time back; if all are idle, the newest of their watermarks
   * counts.
   */
  boolean idle(int input) {
    if (idle[input] || !canBeIdle) {
      return false;
    }
    idle[input] = true;
    boolean wasLeast = heard[input] == now;
    return wasLeast
        && reach(isSilent() ? Arrays.stream(heard).max().getAsLong() : leastThatCounts());
  }

  boolean isSilent() {
    for (boolean each : idle) {
      if (!each) {
        return false;
      }
    }
    return true;
  }

  void active(int input) {
    idle[input] = false;
  }

  /** An input that comes back behind the others does not count until it has caught up. */
  private long leastThatCounts() {
    long least = Long.MAX_VALUE;
    boolean any = false;
    for (int input = 0; input < heard.length; input++) {
      if (!idle[input] && heard[input] >= now) {
        any = true;
        least = Math.min(least, heard[input]);
      }
    }
    return any ? least : now;
  }

  /** Goes on to an instant, if it is later; true if so. */
  boolean reach(long millis) {
    boolean canContinue = millis > now;
    now = Math.max(now, millis);
    return canContinue;
  }
}
