package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSetWriter;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.types.KeyEpochs;
import java.util.Map;

/**
 * What a window makes of a shard's live keys.
 *
 * @param live the keys after the window
 * @param keysChanged whether they are others than before; if not, their epochs may be
 */
record ClosedWindow(LiveKeys live, boolean keysChanged) {

  /**
   * Closes a window.
   *
   * @param operations hash to what became of it in the window, in any order
   * @param table the epochs at the end of the window; null without a ttl
   */
  static ClosedWindow of(
      LiveKeys before, int shardBits, Iterable<Map.Entry<Long, Long>> operations, EpochTable table)
      throws MalformedGolombCodedSetException {
    WindowOperations changes = WindowOperations.of(before.rests(), shardBits, operations, table);
    boolean anyDue = table != null && table.isAnyDue(before.epochs());
    if (changes.size() == 0 && !anyDue) {
      KeyEpochs adjusted = table == null ? null : table.adjusted(before.epochs());
      return new ClosedWindow(new LiveKeys(before.rests(), adjusted), false);
    }
    long count = before.count() + changes.newKeys() - changes.deletedKeys();
    if (anyDue) {
      // How many of those that are due were added again only a look at each can tell.
      long[] counted = new long[1];
      new LiveKeysMerge(before, changes, table, (rests, epochs, length) -> counted[0] += length)
          .run();
      count = counted[0];
    }
    boolean keysChanged = changes.newKeys() > 0 || count < before.count();
    GolombCodedSetWriter writer = new GolombCodedSetWriter(count, before.rests().valueBits());
    EpochWriter epochWriter = table == null ? null : new EpochWriter(table, count);
    new LiveKeysMerge(
            before,
            changes,
            table,
            (rests, epochs, length) -> {
              for (int i = 0; i < length; i++) {
                writer.add(rests[i]);
              }
              if (epochWriter != null) {
                epochWriter.take(epochs, length);
              }
            })
        .run();
    return new ClosedWindow(
        new LiveKeys(writer.toSet(), epochWriter == null ? null : epochWriter.epochs()),
        keysChanged);
  }

  /** Puts numbers of epochs together. */
  private static final class EpochWriter {
    private final EpochTable table;
    private final long[] counts;
    private final byte[] numbers;
    private int keys;

    EpochWriter(EpochTable table, long keys) {
      this.table = table;
      this.counts = new long[table.size()];
      this.numbers = new byte[Math.toIntExact(KeyEpochs.bytesFor(keys))];
    }

    void take(byte[] epochs, int length) {
      for (int i = 0; i < length; i++, keys++) {
        counts[epochs[i]]++;
        numbers[keys >> 1] |= (byte) (epochs[i] << ((keys & 1) << 2));
      }
    }

    KeyEpochs epochs() {
      return new KeyEpochs(table.endsMillis(), counts, numbers);
    }
  }
}
