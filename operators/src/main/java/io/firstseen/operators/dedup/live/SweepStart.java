package io.firstseen.operators.dedup.live;

/**
 * Computes the position at which a sweep begins when a task starts. The position depends on the
 * clock, so that a task that is often restarted does not always begin with the same pages or
 * entries.
 */
final class SweepStart {
  /**
   * The part of a round that is repeated after a restart, to cover pages or entries that were
   * missed in the meantime.
   */
  static final double AGAIN = 1.0 / 16;

  private SweepStart() {}

  /** Returns the position in a round of one epoch, in [0, 1). */
  static double place(long nowMillis, long epochMillis) {
    double round = (double) Math.floorMod(nowMillis, epochMillis) / epochMillis;
    return round < AGAIN ? 1 + round - AGAIN : round - AGAIN;
  }
}
