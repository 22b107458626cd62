package io.firstseen.consumer.internal;

/**
 * The time of the next retry after a failure, and the pause before it. Pauses use exponential
 * backoff up to a maximum. The caller chooses the unit.
 */
public record Retry(long at, long pause) {
  /** Nothing has failed. */
  public static final Retry NONE = new Retry(Long.MIN_VALUE, 0);

  /** Returns whether it is time to retry. */
  public boolean isDue(long now) {
    return now >= at;
  }

  /** Returns the next retry after a failure. */
  public Retry next(long now, long firstPause, long maxPause) {
    long next = pause == 0 ? firstPause : Math.max(pause, Math.min(2 * pause, maxPause));
    return new Retry(now + next, next);
  }
}
