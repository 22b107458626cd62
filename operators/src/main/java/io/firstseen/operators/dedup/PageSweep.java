package io.firstseen.operators.dedup;

/**
 * Goes round all pages of a task once an epoch, a few at a time, so that keys whose time is up free
 * their room although nobody asks for their pages.
 *
 * <p>What is forgotten does not depend on it. So it may fall behind: after a jump of the clock it
 * goes round once, at no more than {@value #MAX_PAGES} pages a call.
 */
final class PageSweep {
  /** Some 10 µs each, 200 where a page empties. */
  static final int MAX_PAGES = 8;

  private static final long MAX_CALLS_AN_EPOCH = 1024;
  private static final long MAX_PAUSE_MILLIS = 1000;

  private final TaskShards shards;
  private final KeyClock clock;
  private long sweptUntil = Long.MIN_VALUE;
  private double due;

  PageSweep(TaskShards shards, KeyClock clock) {
    this.shards = shards;
    this.clock = clock;
  }

  /** How long to wait between two calls where nothing else says when. */
  long pauseMillis() {
    return Math.max(1, Math.min(clock.epochMillis() / MAX_CALLS_AN_EPOCH, MAX_PAUSE_MILLIS));
  }

  /** Sweeps as many pages as the time since the last call asks for. */
  void run() {
    long now = clock.nowMillis();
    if (sweptUntil != Long.MIN_VALUE) {
      double all = shards.pageCount();
      due = Math.min(all, due + all * ((double) now - sweptUntil) / clock.epochMillis());
    }
    sweptUntil = now;
    if (due >= 1) {
      int some = (int) Math.min(due, MAX_PAGES);
      shards.sweep(some);
      due -= some;
    }
  }
}
