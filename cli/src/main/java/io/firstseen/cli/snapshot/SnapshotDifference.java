package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The changes from one snapshot to another, or from all shards of one set to those of another.
 *
 * @param added how many values are only in the second; shards of different ranges of values are not
 *     counted, as their values cannot be compared
 * @param removed how many values are only in the first, likewise
 * @param deltaBytes the bytes that change the first into the second: of deltas, and of whole
 *     snapshots where the ranges differ, so that no delta is possible
 * @param fullBytes the bytes of the whole second snapshot
 * @param wholeShards how many shards changed but allow no delta
 */
record SnapshotDifference(
    long added, long removed, long deltaBytes, long fullBytes, int wholeShards) {

  private static final SnapshotDifference NONE = new SnapshotDifference(0, 0, 0, 0, 0);

  /**
   * Compares the shards of two sets.
   *
   * @param before null for a shard that never held a key, like {@code after}
   */
  static SnapshotDifference of(@Nullable Snapshot before, @Nullable Snapshot after) {
    if (before == null && after == null) {
      return NONE;
    }
    if (before == null) {
      long count = after.header().count();
      return new SnapshotDifference(count, 0, bytes(after), bytes(after), count == 0 ? 0 : 1);
    }
    if (after == null) {
      return new SnapshotDifference(0, before.header().count(), 0, 0, 0);
    }
    Optional<SnapshotDelta> delta = delta(before, after);
    if (delta.isPresent()) {
      SnapshotDelta found = delta.get();
      boolean same = found.addedCount() + found.removedCount() == 0;
      return new SnapshotDifference(
          found.addedCount(),
          found.removedCount(),
          same ? 0 : found.asByteBuffer().remaining(),
          bytes(after),
          0);
    }
    if (before.header().count() + after.header().count() == 0) {
      return NONE;
    }
    return new SnapshotDifference(0, 0, bytes(after), bytes(after), 1);
  }

  /** The delta; empty if none is possible. */
  static Optional<SnapshotDelta> delta(Snapshot before, Snapshot after) {
    return before.header().universe().equals(after.header().universe())
        ? Optional.of(SnapshotDelta.between(before, after))
        : Optional.empty();
  }

  private static long bytes(Snapshot snapshot) {
    return snapshot.asByteBuffer().remaining();
  }

  SnapshotDifference plus(SnapshotDifference other) {
    return new SnapshotDifference(
        added + other.added,
        removed + other.removed,
        deltaBytes + other.deltaBytes,
        fullBytes + other.fullBytes,
        wholeShards + other.wholeShards);
  }

  static SnapshotDifference none() {
    return NONE;
  }

  boolean isSame() {
    return added == 0 && removed == 0 && wholeShards == 0;
  }

  /** The lines of the table, each ending with a line feed. */
  String table() {
    StringBuilder table = new StringBuilder();
    row(table, "added values", SnapshotSummary.number(added));
    row(table, "removed values", SnapshotSummary.number(removed));
    row(table, "bytes to go there", SnapshotSummary.number(deltaBytes));
    row(table, "bytes in full", SnapshotSummary.number(fullBytes));
    if (wholeShards > 0) {
      row(
          table,
          "shards in full",
          wholeShards
              + " (no delta can lead to them, and values of different ranges cannot be compared)");
    }
    return table.toString();
  }

  private static void row(StringBuilder table, String name, String value) {
    table.append(String.format("%-20s%s%n", name, value));
  }

  /** The same as a JSON object. */
  ObjectNode json() {
    ObjectNode json = Json.object();
    json.put("same", isSame());
    json.put("added", added);
    json.put("removed", removed);
    json.put("deltaBytes", deltaBytes);
    json.put("fullBytes", fullBytes);
    json.put("shardsInFull", wholeShards);
    return json;
  }
}
