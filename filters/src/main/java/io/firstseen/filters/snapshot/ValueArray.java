package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.util.Arrays;
import java.util.PrimitiveIterator;

/** The values of a set in an array, to which many changes are applied one after the other. */
final class ValueArray {
  private long[] values;

  ValueArray(PrimitiveIterator.OfLong values, long count) throws MalformedSnapshotException {
    this.values = new long[requireLength(count)];
    int length = 0;
    while (values.hasNext()) {
      this.values[length++] = values.nextLong();
    }
  }

  long count() {
    return values.length;
  }

  PrimitiveIterator.OfLong iterator() {
    return Arrays.stream(values).iterator();
  }

  /**
   * Applies a change.
   *
   * @param added the added values
   * @param removed the places of the removed values
   * @param countAfter the number of values after the change
   */
  void change(PrimitiveIterator.OfLong added, PrimitiveIterator.OfLong removed, long countAfter)
      throws MalformedSnapshotException {
    long[] after = new long[requireLength(countAfter)];
    int from = 0;
    int to = 0;
    long nextRemoved = removed.hasNext() ? removed.nextLong() : values.length;
    boolean adds = added.hasNext();
    long nextAdded = adds ? added.nextLong() : 0;
    while (adds || nextRemoved < values.length) {
      int insertAt = adds ? placeOf(nextAdded, from) : values.length;
      boolean removesFirst = nextRemoved < insertAt;
      int until = removesFirst ? (int) nextRemoved : insertAt;
      System.arraycopy(values, from, after, to, until - from);
      to += until - from;
      from = until;
      if (removesFirst) {
        from++;
        nextRemoved = removed.hasNext() ? removed.nextLong() : values.length;
      } else {
        requireThat(
            insertAt == values.length || values[insertAt] != nextAdded,
            "an added value must not be there before, got " + Long.toUnsignedString(nextAdded));
        after[to++] = nextAdded;
        adds = added.hasNext();
        nextAdded = adds ? added.nextLong() : 0;
      }
    }
    System.arraycopy(values, from, after, to, values.length - from);
    values = after;
  }

  /** Returns the index of the first value at or after an index that is not below a given value. */
  private int placeOf(long value, int from) {
    int low = from;
    int high = values.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(values[middle], value) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static int requireLength(long count) throws MalformedSnapshotException {
    requireThat(
        count <= Integer.MAX_VALUE - 8,
        "several changes at once need a shard of at most 2^31 - 9 values, got " + count);
    return (int) count;
  }
}
