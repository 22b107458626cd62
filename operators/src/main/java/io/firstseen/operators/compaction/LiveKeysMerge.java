package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.ValueCursor;
import org.jspecify.annotations.Nullable;

/** Merges a shard's live keys with the operations of a window, in one pass in ascending order. */
final class LiveKeysMerge {

  /** Receives the keys that are live after the window, in blocks. */
  interface Blocks {
    /**
     * Receives the next keys.
     *
     * @param suffixes the suffixes of their hashes
     * @param expiryWindows the numbers of their expiry windows; 0 without a ttl
     * @param length how many elements of the arrays are filled
     */
    void take(long[] suffixes, byte[] expiryWindows, int length);
  }

  private static final int BLOCK = CoarseChanges.MAX_RUN;

  private final LiveKeys before;
  private final long[] changed;
  private final byte[] changedTo;
  // Number of an expiry window before the window to its number at the end; null without a ttl.
  private final byte @Nullable [] numbers;
  private final @Nullable CoarseChanges coarse;
  private final Blocks blocks;
  private final long[] suffixes = new long[BLOCK];
  private final byte[] expiryWindows = new byte[BLOCK];
  private int filled;
  private int next;

  /**
   * Prepares the merge.
   *
   * @param coarse also receives all keys
   */
  LiveKeysMerge(
      LiveKeys before,
      WindowOperations operations,
      @Nullable ExpiryWindowTable table,
      @Nullable CoarseChanges coarse,
      Blocks blocks) {
    this.before = before;
    this.changed = operations.suffixes();
    this.changedTo = operations.expiryWindows();
    this.numbers = table == null ? null : table.numbersOf(before.expiryWindows());
    this.coarse = coarse;
    this.blocks = blocks;
  }

  void run() throws MalformedGolombCodedSetException {
    ValueCursor cursor = before.suffixes().cursor();
    long key = 0;
    long[] block = new long[BLOCK];
    for (int length = cursor.read(block); length > 0; length = cursor.read(block)) {
      int i = 0;
      while (i < length) {
        int end = numbers == null ? endOfRun(block, i, length) : i;
        if (end > i) {
          keep(block, i, end);
          i = end;
        } else {
          merge(block[i], key + i);
          i++;
        }
      }
      key += length;
    }
    while (next < changed.length) {
      add();
    }
    blocks.take(suffixes, expiryWindows, filled);
  }

  /** Returns the index of the first key that is not less than the key of the next change. */
  private int endOfRun(long[] block, int from, int length) {
    if (next == changed.length) {
      return length;
    }
    long limit = changed[next] ^ Long.MIN_VALUE;
    int i = from;
    while (i < length && (block[i] ^ Long.MIN_VALUE) < limit) {
      i++;
    }
    return i;
  }

  private void keep(long[] block, int from, int end) {
    if (coarse != null) {
      coarse.kept(block, from, end);
    }
    int i = from;
    while (i < end) {
      if (filled == BLOCK) {
        handOver();
      }
      int length = Math.min(end - i, BLOCK - filled);
      System.arraycopy(block, i, suffixes, filled, length);
      filled += length;
      i += length;
    }
  }

  /** Handles a key that was live before the window, and all changes up to it. */
  private void merge(long suffix, long key) {
    while (next < changed.length && Long.compareUnsigned(changed[next], suffix) < 0) {
      add();
    }
    byte expiryWindow = numbers == null ? 0 : numbers[before.expiryWindows().numberAt(key)];
    if (next < changed.length && changed[next] == suffix) {
      byte to = changedTo[next++];
      expiryWindow = to == WindowOperations.DELETED ? to : (byte) Math.max(expiryWindow, to);
    }
    if (expiryWindow >= 0) {
      put(suffix, expiryWindow);
    }
    if (coarse != null) {
      if (expiryWindow >= 0) {
        coarse.kept(suffix);
      } else {
        coarse.removed(suffix);
      }
    }
  }

  /** Adds the key of the next change. It was not live: only live keys are deleted. */
  private void add() {
    if (coarse != null) {
      coarse.added(changed[next]);
    }
    put(changed[next], changedTo[next]);
    next++;
  }

  private void put(long suffix, byte expiryWindow) {
    if (filled == BLOCK) {
      handOver();
    }
    suffixes[filled] = suffix;
    expiryWindows[filled++] = expiryWindow;
  }

  private void handOver() {
    blocks.take(suffixes, expiryWindows, filled);
    filled = 0;
  }
}
