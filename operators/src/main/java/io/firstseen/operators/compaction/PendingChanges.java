package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import java.util.Arrays;
import java.util.Map;
import java.util.PrimitiveIterator;

/**
 * What one window really changes in a shard's live set: added keys that it lacks and deleted keys
 * that it holds. Duplicate adds and unknown deletes are gone, so a window of replayed input changes
 * nothing.
 */
final class PendingChanges {
  private final GolombCodedSet live;
  // Ascending as unsigned numbers; none of the added is in the live set, all of the deleted are.
  private final long[] added;
  private final long[] deleted;

  private PendingChanges(GolombCodedSet live, long[] added, long[] deleted) {
    this.live = live;
    this.added = added;
    this.deleted = deleted;
  }

  /**
   * Compares a window's operations with the live set.
   *
   * @param live the live set of rests: hashes without their shard bits
   * @param shardBits number of shard bits
   * @param operations hash to whether its last operation was an add, in any order
   */
  static PendingChanges of(
      GolombCodedSet live, int shardBits, Iterable<Map.Entry<Long, Boolean>> operations) {
    Values added = new Values();
    Values deleted = new Values();
    for (Map.Entry<Long, Boolean> operation : operations) {
      long rest = rest(operation.getKey(), shardBits);
      boolean add = operation.getValue();
      if (live.mightContain(rest) != add) {
        (add ? added : deleted).append(rest);
      }
    }
    return new PendingChanges(live, added.sorted(), deleted.sorted());
  }

  private static long rest(long hash, int shardBits) {
    return hash << shardBits >>> shardBits;
  }

  /** Whether the live set stays as it is. */
  boolean isEmpty() {
    return added.length == 0 && deleted.length == 0;
  }

  /**
   * The live set after the window, ascending as unsigned numbers: one pass over the old set, one
   * array.
   */
  long[] applied() {
    long[] result = new long[Math.toIntExact(live.count() + added.length - deleted.length)];
    int filled = 0;
    int nextAdded = 0;
    int nextDeleted = 0;
    for (PrimitiveIterator.OfLong values = live.iterator(); values.hasNext(); ) {
      long value = values.nextLong();
      while (nextAdded < added.length && Long.compareUnsigned(added[nextAdded], value) < 0) {
        result[filled++] = added[nextAdded++];
      }
      if (nextDeleted < deleted.length && deleted[nextDeleted] == value) {
        nextDeleted++;
      } else {
        result[filled++] = value;
      }
    }
    System.arraycopy(added, nextAdded, result, filled, added.length - nextAdded);
    return result;
  }

  /** A list of longs that grows. */
  private static final class Values {
    private long[] values = new long[16];
    private int size;

    void append(long value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, 2 * size);
      }
      values[size++] = value;
    }

    /** The values in ascending unsigned order. */
    long[] sorted() {
      long[] sorted = Arrays.copyOf(values, size);
      flipSigns(sorted);
      Arrays.sort(sorted);
      flipSigns(sorted);
      return sorted;
    }

    private static void flipSigns(long[] values) {
      for (int i = 0; i < values.length; i++) {
        values[i] ^= Long.MIN_VALUE;
      }
    }
  }
}
