package io.firstseen.operators.dedup;

/**
 * Goes round all entries of a task once an epoch, a few slices at a time, and removes those whose
 * time is up.
 *
 * <p>What is forgotten does not depend on it: it frees the room of keys that nobody asks for, and
 * may fall behind. How far is bounded: each new key pays for going through a few entries, so that,
 * where slices are not nearly empty, all have been looked at before as many keys came as are there.
 */
final class EntrySweep {
  /** Entries that a call reads at most, or nearly; one takes some 1 µs. */
  private static final int MAX_ENTRIES = 512;

  /** Finding a slice takes as long as reading so many entries. */
  private static final int SLICE_IN_ENTRIES = 4;

  /** Entries that are read for a new key, if calls leave some to be read. */
  private static final int ENTRIES_A_KEY = 4;

  /** New keys pay together, so that the time is not spent on finding slices. */
  private static final int MIN_PAYMENT = 64;

  private final TaskShards shards;
  private final HashEntries entries;
  private final KeyClock clock;
  private long sweptUntil = Long.MIN_VALUE;
  private double due;
  private int paid;
  private int shard;
  private int slice;

  EntrySweep(TaskShards shards, HashEntries entries, KeyClock clock) {
    this.shards = shards;
    this.entries = entries;
    this.clock = clock;
  }

  /** Sweeps as many slices as the time since the last call asks for, within bounds. */
  void run() throws Exception {
    long now = clock.nowMillis();
    double all = (double) shards.count() * HashEntries.SLICES;
    if (sweptUntil != Long.MIN_VALUE) {
      due = Math.min(all, due + all * ((double) now - sweptUntil) / clock.epochMillis());
    }
    sweptUntil = now;
    sweep(MAX_ENTRIES);
  }

  /** Takes note of a new key, which pays for what {@link #run} left. */
  void pay() throws Exception {
    if (due >= 1) {
      paid += ENTRIES_A_KEY;
      if (paid >= MIN_PAYMENT) {
        paid -= sweep(paid);
      }
    }
  }

  private int sweep(int maxEntries) throws Exception {
    int read = 0;
    while (due >= 1 && read < maxEntries) {
      read += SLICE_IN_ENTRIES + entries.sweep(shards.get(shard), slice);
      due--;
      slice++;
      if (slice == HashEntries.SLICES) {
        slice = 0;
        shard = (shard + 1) % shards.count();
      }
    }
    return read;
  }
}
