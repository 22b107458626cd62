package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.AscendingCode;
import io.firstseen.filters.gcs.BitWriter;
import io.firstseen.filters.gcs.Universe;
import java.util.Arrays;
import java.util.PrimitiveIterator;

/**
 * Builds a {@link Section} from changes that are given one by one. Uses 8 bytes per change. Not
 * safe for use by several threads at once.
 */
public final class SectionWriter {
  private final Universe universe;
  private final long parentCount;
  private final Numbers added = new Numbers();
  private final Numbers removed = new Numbers();

  /**
   * Begins a section.
   *
   * @param universe the values before and after the change
   * @param parentCount the number of values before the change
   */
  public SectionWriter(Universe universe, long parentCount) {
    this.universe = universe;
    this.parentCount = parentCount;
  }

  /** Adds a value that the previous set does not contain. Values must ascend. */
  public void add(long value) {
    added.append(value);
  }

  /** Removes the value at an index of the previous set, starting at 0. Indices must ascend. */
  public void remove(long place) {
    removed.append(place);
  }

  /** Returns the number of values after the changes so far. */
  public long countAfter() {
    return parentCount + added.size - removed.size;
  }

  /**
   * Returns the section. The writer must not be used afterwards.
   *
   * @param hashCount the number of distinct hashes after the change
   * @throws IllegalArgumentException if values or places did not ascend or were out of range, or if
   *     there are fewer hashes than values
   */
  public Section finish(long hashCount) {
    SnapshotWriter.requireHashCount(hashCount, countAfter());
    universe.requireFits(countAfter());
    AscendingCode addedCode = new AscendingCode(added.size, universe.greatest());
    AscendingCode removedCode =
        new AscendingCode(requireRemovable(removed.size), Math.max(0, parentCount - 1));
    BitWriter out =
        new BitWriter(
            added.size * (addedCode.minBits() + 2L) + removed.size * (removedCode.minBits() + 2L));
    addedCode.encode(added.iterator(), out);
    long addedBits = out.bitLength();
    removedCode.encode(removed.iterator(), out);
    return Section.change(
        hashCount - countAfter(), added.size, removed.size, addedBits, out.toBytes());
  }

  private long requireRemovable(long count) {
    if (count > parentCount) {
      throw new IllegalArgumentException(
          "at most " + parentCount + " values can be removed, got " + count);
    }
    return count;
  }

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
