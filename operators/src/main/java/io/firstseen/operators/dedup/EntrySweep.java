package io.firstseen.operators.dedup;

/**
 * Goes round all entries of a task once an epoch, a few slices at a time, and removes those whose
 * time is up.
 *
 * <p>What is forgotten does not depend on it: it frees the room of keys that nobody asks for, and
 * may fall behind.
 */
final class EntrySweep {
  /** Reading one entry takes some 1 µs, finding a slice some 5. */
  private static final int MOST_ENTRIES = 512;

  private static final int MOST_SLICES = 128;

  private final ShardPages pages;
  private final HashEntries entries;
  private final KeyClock clock;
  private long sweptUntil = Long.MIN_VALUE;
  private double due;
  private int shard;
  private int slice;

  EntrySweep(ShardPages pages, HashEntries entries, KeyClock clock) {
    this.pages = pages;
    this.entries = entries;
    this.clock = clock;
  }

  /** Sweeps as many slices as the time since the last call asks for, within bounds. */
  void run() throws Exception {
    long now = clock.nowMillis();
    double all = (double) pages.shardCount() * HashEntries.SLICES;
    if (sweptUntil != Long.MIN_VALUE) {
      due = Math.min(all, due + all * ((double) now - sweptUntil) / clock.epochMillis());
    }
    sweptUntil = now;
    int seen = 0;
    for (int slices = 0; due >= 1 && slices < MOST_SLICES && seen < MOST_ENTRIES; slices++) {
      pages.enter(shard);
      seen += entries.sweep(slice);
      due--;
      slice++;
      if (slice == HashEntries.SLICES) {
        slice = 0;
        shard = (shard + 1) % pages.shardCount();
      }
    }
  }
}
