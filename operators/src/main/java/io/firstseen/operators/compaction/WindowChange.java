package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSetWriter;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.Universe;
import io.firstseen.types.KeyEpochs;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The change of a shard's live keys in a window: its operations, and the keys that expire.
 *
 * @param table the expiry windows at the end of the window; null without a ttl
 * @param anyDue whether keys may expire
 * @param count the number of keys after the window
 */
record WindowChange(
    LiveKeys before,
    WindowOperations operations,
    @Nullable ExpiryWindowTable table,
    boolean anyDue,
    long count) {

  /**
   * Prepares the change, and counts the keys that are live after the window.
   *
   * @param shardBits number of shard bits
   * @param pending hash to its pending operation, in any order
   * @param table the expiry windows at the end of the window; null without a ttl
   */
  static WindowChange of(
      LiveKeys before,
      int shardBits,
      Iterable<Map.Entry<Long, Long>> pending,
      @Nullable ExpiryWindowTable table)
      throws MalformedGolombCodedSetException {
    WindowOperations operations = WindowOperations.of(before.suffixes(), shardBits, pending, table);
    boolean anyDue = table != null && table.isAnyDue(before.expiryWindows());
    long count = before.count() + operations.newKeys() - operations.deletedKeys();
    if (anyDue) {
      // A due key may have been added again in the window, so each key must be checked.
      long[] counted = new long[1];
      new LiveKeysMerge(
              before,
              operations,
              table,
              null,
              (suffixes, expiryWindows, length) -> counted[0] += length)
          .run();
      count = counted[0];
    }
    return new WindowChange(before, operations, table, anyDue, count);
  }

  /** Returns whether keys are added or removed. If not, their expiry windows may still change. */
  boolean changesKeys() {
    return operations.newKeys() > 0 || count < before.count();
  }

  /**
   * Returns the keys after the window.
   *
   * @param coarse receives all keys
   */
  LiveKeys apply(@Nullable CoarseChanges coarse) throws MalformedGolombCodedSetException {
    if (operations.size() == 0 && !anyDue) {
      return table == null
          ? before
          : new LiveKeys(before.suffixes(), table.adjusted(before.expiryWindows()));
    }
    GolombCodedSetWriter writer =
        new GolombCodedSetWriter(count, Universe.ofBits(before.suffixBits(), count));
    ExpiryWindowWriter expiryWindowWriter =
        table == null ? null : new ExpiryWindowWriter(table, count);
    new LiveKeysMerge(
            before,
            operations,
            table,
            coarse,
            (suffixes, expiryWindows, length) -> {
              for (int i = 0; i < length; i++) {
                writer.add(suffixes[i]);
              }
              if (expiryWindowWriter != null) {
                expiryWindowWriter.take(expiryWindows, length);
              }
            })
        .run();
    return new LiveKeys(
        writer.toSet(), expiryWindowWriter == null ? null : expiryWindowWriter.expiryWindows());
  }

  /** Packs the expiry-window numbers of the keys, 4 bits each. */
  private static final class ExpiryWindowWriter {
    private final ExpiryWindowTable table;
    private final long[] counts;
    private final byte[] numbers;
    private int keys;

    ExpiryWindowWriter(ExpiryWindowTable table, long keys) {
      this.table = table;
      this.counts = new long[table.size()];
      this.numbers = new byte[Math.toIntExact(KeyEpochs.bytesFor(keys))];
    }

    void take(byte[] expiryWindows, int length) {
      for (int i = 0; i < length; i++, keys++) {
        counts[expiryWindows[i]]++;
        numbers[keys >> 1] |= (byte) (expiryWindows[i] << ((keys & 1) << 2));
      }
    }

    KeyEpochs expiryWindows() {
      return new KeyEpochs(table.endsMillis(), counts, numbers);
    }
  }
}
