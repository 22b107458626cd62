package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.GolombCodedSetWriter;

/**
 * Builds a snapshot and its set digest from values that are given one by one in ascending order.
 * Keeps only the codes. Not safe for use by several threads at once.
 */
public final class SnapshotWriter {
  private final SnapshotParameters parameters;
  private final long hashCount;
  private final GolombCodedSetWriter values;
  private final SetDigest digest = new SetDigest();

  /**
   * Begins a snapshot.
   *
   * @param valueBits the bits of a value, at least {@link SetParameters#valueBitsFor}
   * @param count how many values will be added
   * @param hashCount the number of distinct hashes that they stand for, at least {@code count}
   * @throws IllegalArgumentException if the bits are too few for the false-positive rate or more
   *     than a suffix has, or if only one of {@code count} and {@code hashCount} is 0
   */
  public SnapshotWriter(SnapshotParameters parameters, int valueBits, long count, long hashCount) {
    this(parameters, hashCount, new GolombCodedSetWriter(count, valueBits));
    parameters.set().requireValueBits(valueBits, hashCount);
    requireHashCount(hashCount, count);
  }

  private SnapshotWriter(
      SnapshotParameters parameters, long hashCount, GolombCodedSetWriter values) {
    this.parameters = parameters;
    this.hashCount = hashCount;
    this.values = values;
  }

  /** Begins the snapshot that a checked header describes. */
  static SnapshotWriter of(SnapshotHeader header) {
    return new SnapshotWriter(
        header.parameters(),
        header.hashCount(),
        new GolombCodedSetWriter(header.count(), header.valueBits()));
  }

  /**
   * Adds the next value.
   *
   * @throws IllegalArgumentException if it is not greater than the one before, not below
   *     2^valueBits, or one more than announced
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
