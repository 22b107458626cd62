package io.firstseen.filters.snapshot;

import java.util.Objects;

/**
 * The properties of a snapshot besides its values.
 *
 * @param set the parameters that all snapshots of its set share
 * @param setName the set that it is a part of, see {@link SnapshotTopicFormat#requireSetName}
 * @param shard the shard of the hashes that it holds, in [0, set.shards().count())
 * @param sequence its number among the snapshots of its shard, ascending, at least 0
 * @param windowStartMillis the start of its window, in milliseconds since the epoch
 * @param windowEndMillis the end of its window, exclusive
 */
public record SnapshotParameters(
    SetParameters set,
    String setName,
    int shard,
    long sequence,
    long windowStartMillis,
    long windowEndMillis) {

  /** Rejects numbers that are out of range and an invalid set name. */
  public SnapshotParameters {
    Objects.requireNonNull(set, "set");
    SnapshotTopicFormat.requireSetName(setName);
    if (shard < 0 || shard >= set.shards().count()) {
      throw new IllegalArgumentException(
          "shard must be in [0, " + set.shards().count() + "), got " + shard);
    }
    requireSequence(sequence);
    requireWindow(windowStartMillis, windowEndMillis);
  }

  static void requireSequence(long sequence) {
    if (sequence < 0) {
      throw new IllegalArgumentException("sequence must be at least 0, got " + sequence);
    }
  }

  static void requireWindow(long windowStartMillis, long windowEndMillis) {
    if (windowStartMillis > windowEndMillis) {
      throw new IllegalArgumentException(
          String.format(
              "windowStartMillis must be at most windowEndMillis (%d), got %d",
              windowEndMillis, windowStartMillis));
    }
  }
}
