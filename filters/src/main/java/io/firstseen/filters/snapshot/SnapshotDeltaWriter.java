package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.AscendingCode;
import io.firstseen.filters.gcs.BitWriter;
import io.firstseen.filters.gcs.Universe;
import java.util.Arrays;
import java.util.PrimitiveIterator;

/**
 * Builds a delta from changes that are given one by one. Keeps 8 bytes for each change. Not safe
 * for use by several threads at once.
 */
public final class SnapshotDeltaWriter {
  private final SnapshotParameters parameters;
  private final Universe universe;
  private final long parentCount;
  private final String parentSetDigest;
  private final Numbers added = new Numbers();
  private final Numbers removed = new Numbers();

  /**
   * Begins a delta.
   *
   * @param parameters the parameters of the child, the set that the delta leads to
   * @param universe the values of parent and child
   * @param parentCount the number of values of the parent
   * @param parentSetDigest the {@link SnapshotHeader#setDigest} of the parent
   */
  public SnapshotDeltaWriter(
      SnapshotParameters parameters, Universe universe, long parentCount, String parentSetDigest) {
    this.parameters = parameters;
    this.universe = universe;
    this.parentCount = parentCount;
    this.parentSetDigest = Sha256.require("parentSetDigest", parentSetDigest);
  }

  /** Adds a value of the child that is not in the parent. Values must ascend. */
  public void add(long value) {
    added.append(value);
  }

  /** Removes the value at a place of the parent, counted from 0. Places must ascend. */
  public void remove(long place) {
    removed.append(place);
  }

  /** The number of values of the child, with the changes so far. */
  public long childCount() {
    return parentCount + added.size - removed.size;
  }

  /**
   * Returns the delta. The writer must not be used afterwards.
   *
   * @param hashCount the number of distinct hashes of the child
   * @param setDigest the {@link SnapshotHeader#setDigest} of the child
   * @throws IllegalArgumentException if values or places did not ascend or were out of range, or if
   *     no snapshot can hold the child, because the universe is too small or it has fewer hashes
   *     than values
   */
  public SnapshotDelta finish(long hashCount, String setDigest) {
    parameters.set().requireUniverse(universe, hashCount);
    SnapshotWriter.requireHashCount(hashCount, childCount());
    universe.requireFits(childCount());
    AscendingCode addedCode = SnapshotDelta.addedCode(added.size, universe);
    AscendingCode removedCode = SnapshotDelta.removedCode(removed.size, parentCount);
    BitWriter out =
        new BitWriter(
            added.size * (addedCode.minBits() + 2L) + removed.size * (removedCode.minBits() + 2L));
    addedCode.encode(added.iterator(), out);
    long addedBits = out.bitLength();
    removedCode.encode(removed.iterator(), out);
    long payloadBits = out.bitLength();
    return SnapshotDelta.of(
        parameters,
        hashCount,
        childCount(),
        universe,
        Sha256.require("setDigest", setDigest),
        parentSetDigest,
        new SnapshotHeader.Changes(added.size, removed.size, addedBits),
        payloadBits,
        out.toBytes());
  }

  /** A list of numbers that grows. */
  private static final class Numbers {
    private long[] numbers = new long[16];
    private int size;

    void append(long number) {
      if (size == numbers.length) {
        numbers = Arrays.copyOf(numbers, 2 * size);
      }
      numbers[size++] = number;
    }

    PrimitiveIterator.OfLong iterator() {
      return Arrays.stream(numbers, 0, size).iterator();
    }
  }
}
