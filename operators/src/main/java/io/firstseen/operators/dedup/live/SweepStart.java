package io.firstseen.operators.dedup.live;

/**
 * Where a sweep begins when a task starts. It follows from the clock, so that a task that is often
 * restarted does not begin with the same pages or entries each time.
 */
final class SweepStart {
  /** The part of a round that is made again after a restart, for what was missed meanwhile. */
  static final double AGAIN = 1.0 / 16;

  private SweepStart() {}

  /** The place in a round of one epoch, in [0, 1). */
  static double place(long nowMillis, long epochMillis) {
    double round = (double) Math.floorMod(nowMillis, epochMillis) / epochMillis;
    return round < AGAIN ? 1 + round - AGAIN : round - AGAIN;
  }
}
