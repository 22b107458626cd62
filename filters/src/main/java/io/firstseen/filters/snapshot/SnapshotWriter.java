package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.GolombCodedSetWriter;
import io.firstseen.filters.gcs.Universe;

/**
 * Builds a snapshot and its set digest from values that are given one by one in ascending order.
 * Keeps only the codes. Not safe for use by several threads at once.
 */
public final class SnapshotWriter {
  private final SnapshotParameters parameters;
  private final long hashCount;
  private final GolombCodedSetWriter values;
  private final SetDigest digest;

  /**
   * Begins a snapshot.
   *
   * @param universe the values that may be added
   * @param count how many values will be added
   * @param hashCount the number of distinct hashes that they stand for, at least {@code count}
   * @throws IllegalArgumentException if the universe is too small for the false-positive rate or
   *     has more values than there are suffixes, or if only one of {@code count} and {@code
   *     hashCount} is 0
   */
  public SnapshotWriter(
      SnapshotParameters parameters, Universe universe, long count, long hashCount) {
    this.parameters = parameters;
    this.hashCount = hashCount;
    this.values = new GolombCodedSetWriter(count, universe);
    this.digest = new SetDigest(universe);
    parameters.set().requireUniverse(universe, hashCount);
    requireHashCount(hashCount, count);
  }

  /**
   * Adds the next value.
   *
   * @throws IllegalArgumentException if it is not greater than the previous value, not in the
   *     universe, or exceeds the announced number of values
   */
  public void add(long value) {
    values.add(value);
    digest.add(value);
  }

  /**
   * Returns the snapshot. The writer must not be used afterwards.
   *
   * @throws IllegalStateException if fewer values were added than announced
   */
  public Snapshot finish() {
    return Snapshot.of(values.toSet(), hashCount, digest.hex(), parameters);
  }

  static void requireHashCount(long hashCount, long count) {
    if (hashCount < count || (hashCount == 0) != (count == 0)) {
      throw new IllegalArgumentException(
          "hashCount must be at least count (" + count + "), and 0 if that is 0, got " + hashCount);
    }
  }
}
