package io.firstseen.operators.dedup.live;

/**
 * Visits all entries of a task once per epoch, a few slices at a time, and removes expired entries.
 *
 * <p>The sweep only frees the space of expired keys that are not accessed. It does not affect which
 * keys are forgotten, so it may fall behind. Its delay is bounded, because each new key makes it
 * visit a few entries: unless slices are nearly empty, all entries are visited before as many new
 * keys arrive as there are entries.
 */
public final class EntrySweep {
  /** The approximate maximum number of entries that one call reads; each takes about 1 µs. */
  private static final int MAX_ENTRIES = 512;

  /** The cost of finding a slice, as a number of entries that could be read in the same time. */
  private static final int SLICE_IN_ENTRIES = 4;

  /** The number of entries that are read per new key while the sweep is behind. */
  private static final int ENTRIES_A_KEY = 4;

  /**
   * The number of new keys after which the sweep continues, so that it does not spend its time on
   * finding slices.
   */
  private static final int MIN_PAYMENT = 64;

  private final TaskShards shards;
  private final HashEntries entries;
  private final KeyClock clock;
  private long sweptUntil = Long.MIN_VALUE;
  private double due;
  private int paid;
  private int shard;
  private int slice;

  public EntrySweep(TaskShards shards, HashEntries entries, KeyClock clock) {
    this.shards = shards;
    this.entries = entries;
    this.clock = clock;
  }

  /** Sweeps as many slices as the time since the last call requires, within bounds. */
  public void run() throws Exception {
    long now = clock.nowMillis();
    double all = (double) shards.count() * HashEntries.SLICES;
    if (sweptUntil == Long.MIN_VALUE) {
      begin(all);
    } else {
      due = Math.min(all, due + all * ((double) now - sweptUntil) / clock.epochMillis());
    }
    sweptUntil = now;
    sweep(MAX_ENTRIES);
  }

  private void begin(double all) {
    due = KeyClock.SWEPT_AGAIN * all;
    long place = (long) (all * clock.sweepStart());
    shard = (int) (place / HashEntries.SLICES) % Math.max(1, shards.count());
    slice = (int) (place % HashEntries.SLICES);
  }

  /**
   * Counts a new key. If {@link #run} has fallen behind, continues the sweep after a number of new
   * keys.
   */
  void countNewKey() throws Exception {
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
