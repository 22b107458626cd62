package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.UnsignedSort;
import io.firstseen.serializers.PendingOperationSerializer;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a window that may change a shard's live set, in the order of the set. Deletes
 * of keys that are not live, adds that are already due at the end of the window and, without a ttl,
 * adds of live keys are omitted.
 */
final class WindowOperations {
  /** Used instead of an expiry-window number for a deleted key. */
  static final byte DELETED = -1;

  private static final byte NOTHING = -2;

  private final long[] suffixes;
  private final byte[] expiryWindows;
  private final long newKeys;
  private final long deletedKeys;

  private WindowOperations(long[] suffixes, byte[] expiryWindows, long newKeys, long deletedKeys) {
    this.suffixes = suffixes;
    this.expiryWindows = expiryWindows;
    this.newKeys = newKeys;
    this.deletedKeys = deletedKeys;
  }

  /**
   * Sorts the operations of a window and omits operations without effect.
   *
   * @param live the suffixes of the live keys' hashes
   * @param shardBits number of shard bits
   * @param operations hash to its pending operation, as {@link PendingOperationSerializer} stores
   *     it, in any order
   * @param table the expiry windows at the end of the window; null without a ttl
   */
  static WindowOperations of(
      GolombCodedSet live,
      int shardBits,
      Iterable<Map.Entry<Long, Long>> operations,
      @Nullable ExpiryWindowTable table) {
    long[] hashes = new long[16];
    byte[] unsorted = new byte[16];
    int size = 0;
    for (Map.Entry<Long, Long> operation : operations) {
      if (size == hashes.length) {
        hashes = Arrays.copyOf(hashes, 2 * size);
        unsorted = Arrays.copyOf(unsorted, 2 * size);
      }
      hashes[size] = operation.getKey() << shardBits >>> shardBits;
      unsorted[size++] = expiryWindow(operation.getValue(), table);
    }
    long[] suffixes = UnsignedSort.sorted(Arrays.copyOf(hashes, size));
    byte[] expiryWindows = new byte[size];
    for (int i = 0; i < size; i++) {
      expiryWindows[indexOf(suffixes, hashes[i])] = unsorted[i];
    }
    return effective(live, shardBits, suffixes, expiryWindows, table != null);
  }

  private static byte expiryWindow(long operation, @Nullable ExpiryWindowTable table) {
    if (operation == PendingOperationSerializer.DELETED) {
      return DELETED;
    }
    byte expiryWindow = table == null ? 0 : table.numberOfTime(operation);
    return expiryWindow == ExpiryWindowTable.DUE ? NOTHING : expiryWindow;
  }

  /** Looks the keys up in the set, in its order, and omits operations without effect. */
  private static WindowOperations effective(
      GolombCodedSet live,
      int shardBits,
      long[] suffixes,
      byte[] expiryWindows,
      boolean addsRenew) {
    long newKeys = 0;
    long deletedKeys = 0;
    int kept = 0;
    for (int i = 0; i < suffixes.length; i++) {
      boolean lives = live.mightContain(suffixes[i] << shardBits);
      boolean add = expiryWindows[i] >= 0;
      if (add ? !lives || addsRenew : lives && expiryWindows[i] == DELETED) {
        newKeys += add && !lives ? 1 : 0;
        deletedKeys += add ? 0 : 1;
        suffixes[kept] = suffixes[i];
        expiryWindows[kept++] = expiryWindows[i];
      }
    }
    return new WindowOperations(
        Arrays.copyOf(suffixes, kept), Arrays.copyOf(expiryWindows, kept), newKeys, deletedKeys);
  }

  private static int indexOf(long[] sorted, long suffix) {
    int low = 0;
    int high = sorted.length - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(sorted[middle], suffix) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  int size() {
    return suffixes.length;
  }

  /** Returns the suffixes of the keys' hashes, ascending as unsigned numbers. */
  long[] suffixes() {
    return suffixes;
  }

  /**
   * Returns for each suffix the number of the expiry window that an add gives to the key, or {@link
   * #DELETED}.
   */
  byte[] expiryWindows() {
    return expiryWindows;
  }

  /** Returns the number of added keys that were not live before. */
  long newKeys() {
    return newKeys;
  }

  long deletedKeys() {
    return deletedKeys;
  }
}
