package io.firstseen.operators.compaction;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.GolombCodedSetWriter;
import io.firstseen.filters.gcs.MergedValues;
import io.firstseen.filters.gcs.UnsignedSort;
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

  /** The live set after the window, encoded as the old one is decoded. */
  GolombCodedSet applied() {
    GolombCodedSetWriter result =
        new GolombCodedSetWriter(live.count() + added.length - deleted.length, live.valueBits());
    PrimitiveIterator.OfLong values =
        MergedValues.union(
            MergedValues.difference(live.iterator(), Arrays.stream(deleted).iterator()),
            Arrays.stream(added).iterator());
    while (values.hasNext()) {
      result.add(values.nextLong());
    }
    return result.toSet();
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
      return UnsignedSort.sorted(Arrays.copyOf(values, size));
    }
  }
}
