package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.Fields;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import org.jspecify.annotations.Nullable;

/**
 * The changes from one snapshot to another, or from all shards of one set to all shards of another
 * set.
 *
 * @param added how many values are only in the second; shards of different ranges of values are not
 *     counted, as their values cannot be compared
 * @param removed how many values are only in the first, likewise
 * @param changeBytes the bytes that change the first into the second: of the sections of a pack,
 *     which have the whole set of a shard where the ranges differ
 * @param fullBytes the bytes of the sections with the whole second set
 * @param wholeShards how many shards have different ranges, and so need their whole set
 * @param isSame whether both have the same keys; another key may have a value that is there already
 */
record SnapshotDifference(
    long added, long removed, long changeBytes, long fullBytes, int wholeShards, boolean isSame) {

  private static final SnapshotDifference NONE = new SnapshotDifference(0, 0, 0, 0, 0, true);

  /**
   * Compares the shards of two sets.
   *
   * @param before null for a shard that never held a key, like {@code after}
   */
  static SnapshotDifference of(@Nullable Snapshot before, @Nullable Snapshot after) {
    if (before == null && after == null) {
      return NONE;
    }
    if (after == null) {
      long removed = before.header().count();
      return new SnapshotDifference(0, removed, 0, 0, 0, removed == 0);
    }
    long fullBytes = Section.whole(after).length();
    long count = after.header().count();
    if (before == null) {
      return new SnapshotDifference(count, 0, fullBytes, fullBytes, 0, count == 0);
    }
    if (before.header().count() + count == 0) {
      return NONE;
    }
    Section change = Section.between(before, after);
    if (change.isWhole()) {
      return new SnapshotDifference(0, 0, fullBytes, fullBytes, 1, false);
    }
    boolean isSame =
        change.addedCount() + change.removedCount() == 0
            && before.header().hashCount() == after.header().hashCount();
    return new SnapshotDifference(
        change.addedCount(),
        change.removedCount(),
        isSame ? 0 : change.length(),
        fullBytes,
        0,
        isSame);
  }

  SnapshotDifference plus(SnapshotDifference other) {
    return new SnapshotDifference(
        added + other.added,
        removed + other.removed,
        changeBytes + other.changeBytes,
        fullBytes + other.fullBytes,
        wholeShards + other.wholeShards,
        isSame && other.isSame);
  }

  static SnapshotDifference none() {
    return NONE;
  }

  Fields fields() {
    Fields fields =
        new Fields()
            .json("same", isSame)
            .put("added values", "added", added)
            .put("removed values", "removed", removed)
            .put("bytes to go there", "changeBytes", changeBytes)
            .put("bytes in full", "fullBytes", fullBytes)
            .json("shardsInFull", wholeShards);
    return wholeShards == 0
        ? fields
        : fields.row(
            "shards in full", wholeShards + " (values of different ranges cannot be compared)");
  }
}
