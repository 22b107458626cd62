package io.firstseen.consumer.internal;

/**
 * When something that failed is tried again, and how long the pause before that is. Each further
 * pause is twice as long as the previous one, up to a bound. The unit is the caller's.
 */
public record Retry(long at, long pause) {
  /** Nothing has failed. */
  public static final Retry NONE = new Retry(Long.MIN_VALUE, 0);

  /** Whether it is time to try. */
  public boolean isDue(long now) {
    return now >= at;
  }

  /** The next try after a failure. */
  public Retry next(long now, long firstPause, long maxPause) {
    long next = pause == 0 ? firstPause : Math.max(pause, Math.min(2 * pause, maxPause));
    return new Retry(now + next, next);
  }
}
