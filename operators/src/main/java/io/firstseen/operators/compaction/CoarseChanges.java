package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.SetDigest;
import io.firstseen.filters.snapshot.SnapshotDeltaWriter;

/**
 * What changes of a shard's live keys mean for the values by which they stand in snapshots, their
 * first bits: told key by key in ascending order, it finds the digest of the values afterwards and
 * how they differ from those before.
 */
final class CoarseChanges {
  /** More are told in several runs. */
  static final int MAX_RUN = 512;

  private final int droppedBits;
  private final SnapshotDeltaWriter delta;
  private final SetDigest digest = new SetDigest();
  private final long[] run = new long[MAX_RUN];
  // The value of the last key, and whether it is one before and afterwards.
  private long value;
  private boolean before;
  private boolean after;
  private long place;
  private long count;

  /**
   * Begins with the first key.
   *
   * @param droppedBits the bits of a rest that are not of the value
   * @param deltaOrNull takes the differences
   */
  CoarseChanges(int droppedBits, SnapshotDeltaWriter deltaOrNull) {
    this.droppedBits = droppedBits;
    this.delta = deltaOrNull;
  }

  /** At most {@value #MAX_RUN} keys, at least one, that live before and afterwards. */
  void kept(long[] rests, int from, int to) {
    kept(rests[from]);
    long last = value;
    int length = 0;
    for (int i = from + 1; i < to; i++) {
      long next = rests[i] >>> droppedBits;
      // Written over if the value is the same, without a branch.
      run[length] = last;
      length += next == last ? 0 : 1;
      last = next;
    }
    digest.add(run, length);
    count += length;
    place += length;
    value = last;
  }

  /** A key that lives before and afterwards. */
  void kept(long rest) {
    moveTo(rest >>> droppedBits);
    before = true;
    after = true;
  }

  /** A key that lives afterwards only. */
  void added(long rest) {
    moveTo(rest >>> droppedBits);
    after = true;
  }

  /** A key that lived before only. */
  void removed(long rest) {
    moveTo(rest >>> droppedBits);
    before = true;
  }

  private void moveTo(long next) {
    if (next != value) {
      finishValue();
      value = next;
      before = false;
      after = false;
    }
  }

  private void finishValue() {
    if (after) {
      digest.add(value);
      count++;
    }
    if (delta != null && before != after) {
      if (after) {
        delta.add(value);
      } else {
        delta.remove(place);
      }
    }
    place += before ? 1 : 0;
  }

  /** All keys were told; the digest of the values afterwards. */
  String finish() {
    finishValue();
    return digest.hex();
  }

  /** The number of values afterwards. */
  long count() {
    return count;
  }
}
