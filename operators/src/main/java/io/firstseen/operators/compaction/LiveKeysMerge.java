package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.ValueCursor;

/** Goes once through a shard's live keys as they are after a window, in their order. */
final class LiveKeysMerge {

  /** Takes keys in blocks. */
  interface Blocks {
    /**
     * Takes the next keys.
     *
     * @param rests their hashes without the shard bits
     * @param epochs the numbers of their epochs; 0 without a ttl
     * @param length how many of the array's places are filled
     */
    void take(long[] rests, byte[] epochs, int length);
  }

  private static final int BLOCK = 512;

  private final LiveKeys before;
  private final WindowOperations operations;
  // By the number of an epoch before the window, its number at the end; null without a ttl.
  private final byte[] numbers;
  private final Blocks blocks;
  private final long[] rests = new long[BLOCK];
  private final byte[] epochs = new byte[BLOCK];
  private int filled;

  LiveKeysMerge(LiveKeys before, WindowOperations operations, EpochTable table, Blocks blocks) {
    this.before = before;
    this.operations = operations;
    this.numbers = table == null ? null : table.numbersOf(before.epochs());
    this.blocks = blocks;
  }

  /** Hands all keys over. */
  void run() throws MalformedGolombCodedSetException {
    ValueCursor cursor = before.rests().cursor();
    long[] changed = operations.rests();
    int next = 0;
    long key = 0;
    long[] block = new long[BLOCK];
    for (int length = cursor.read(block); length > 0; length = cursor.read(block)) {
      for (int i = 0; i < length; i++, key++) {
        long rest = block[i];
        while (next < changed.length && Long.compareUnsigned(changed[next], rest) < 0) {
          // Deletes are of keys that live.
          put(changed[next], operations.epochs()[next]);
          next++;
        }
        byte epoch = numbers == null ? 0 : numbers[before.epochs().numberAt(key)];
        if (next < changed.length && changed[next] == rest) {
          byte changedTo = operations.epochs()[next++];
          epoch =
              changedTo == WindowOperations.DELETED ? changedTo : (byte) Math.max(epoch, changedTo);
        }
        if (epoch >= 0) {
          put(rest, epoch);
        }
      }
    }
    for (; next < changed.length; next++) {
      put(changed[next], operations.epochs()[next]);
    }
    blocks.take(rests, epochs, filled);
  }

  private void put(long rest, byte epoch) {
    if (filled == BLOCK) {
      blocks.take(rests, epochs, filled);
      filled = 0;
    }
    rests[filled] = rest;
    epochs[filled++] = epoch;
  }
}
