package io.firstseen.operators.dedup.live;

/**
 * Visits all pages of a task once per epoch, a few at a time, so that expired keys free their space
 * even if their pages are not accessed. Progress is measured in identities, because the number of
 * pages falls while they are merged.
 *
 * <p>The sweep does not affect which keys are forgotten, so it may fall behind: after a jump of the
 * clock it visits all pages once, at most {@value #MAX_PAGES} per call.
 */
public final class PageSweep {
  /**
   * The maximum number of pages per call. A page takes about 10 µs, or 200 µs if it becomes empty.
   */
  public static final int MAX_PAGES = 8;

  private static final long MAX_CALLS_AN_EPOCH = 1024;
  private static final long MAX_PAUSE_MILLIS = 1000;

  private final TaskShards shards;
  private final KeyClock clock;
  private long sweptUntil = Long.MIN_VALUE;

  /** The part of all identities whose pages are to be visited. */
  private double due;

  public PageSweep(TaskShards shards, KeyClock clock) {
    this.shards = shards;
    this.clock = clock;
  }

  /** Returns the time between two calls if no watermark or event triggers them. */
  public long pauseMillis() {
    return Math.max(1, Math.min(clock.epochMillis() / MAX_CALLS_AN_EPOCH, MAX_PAUSE_MILLIS));
  }

  /** Sweeps as many pages as the time since the last call requires. */
  public void run() {
    long now = clock.nowMillis();
    if (sweptUntil == Long.MIN_VALUE) {
      shards.sweepFrom(clock.sweepStart());
      due = KeyClock.SWEPT_AGAIN;
    } else {
      due = Math.min(1, due + ((double) now - sweptUntil) / clock.epochMillis());
    }
    sweptUntil = now;
    for (int pages = 0; due > 0 && pages < MAX_PAGES; pages++) {
      due -= shards.sweepPage();
    }
  }
}
