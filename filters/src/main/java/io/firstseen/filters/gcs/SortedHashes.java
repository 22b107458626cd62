package io.firstseen.filters.gcs;

import java.util.Arrays;

/** Encodes the values of sorted hashes with several threads. */
final class SortedHashes {
  private final long[] hashes;
  private final int skippedBits;
  private final Universe universe;

  SortedHashes(long[] hashes, int skippedBits, Universe universe) {
    this.hashes = hashes;
    this.skippedBits = skippedBits;
    this.universe = universe;
  }

  /** Encodes the set. The result does not depend on the number of parts. */
  GolombCodedSet encode(int parts) {
    long[] counts = new long[parts];
    UnsignedSort.forEachPart(
        parts,
        part ->
            counts[part] =
                distinct(
                    (int) ((long) hashes.length * part / parts),
                    (int) ((long) hashes.length * (part + 1) / parts)));
    long count = Arrays.stream(counts).sum();
    universe.requireFits(count);
    GolombCodedSetWriter[] writers = new GolombCodedSetWriter[parts];
    UnsignedSort.forEachPart(parts, part -> writers[part] = written(count, part, parts));
    return GolombCodedSetWriter.join(count, universe, writers);
  }

  private long value(int index) {
    return universe.valueOf(hashes[index] << skippedBits);
  }

  private long distinct(int from, int to) {
    long count = from == 0 && to > 0 ? 1 : 0;
    for (int i = Math.max(1, from); i < to; i++) {
      count += value(i) != value(i - 1) ? 1 : 0;
    }
    return count;
  }

  /** Encodes the values of a part of the buckets. */
  private GolombCodedSetWriter written(long count, int part, int parts) {
    long buckets = universe.buckets();
    long firstBucket = buckets * part / parts;
    int from = part == 0 ? 0 : firstFrom(universe.lowerBound(firstBucket));
    int to =
        part == parts - 1
            ? hashes.length
            : firstFrom(universe.lowerBound(buckets * (part + 1) / parts));
    GolombCodedSetWriter writer =
        GolombCodedSetWriter.ofPart(count, universe, firstBucket, to - from);
    writer.addSorted(hashes, from, to, skippedBits);
    writer.close();
    return writer;
  }

  /** Returns the first index whose value is at least {@code least}. */
  private int firstFrom(long least) {
    int from = 0;
    int to = hashes.length;
    while (from < to) {
      int middle = (from + to) >>> 1;
      if (Long.compareUnsigned(value(middle), least) < 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
}
