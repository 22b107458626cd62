package io.firstseen.filters.gcs;

import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Sorts 64-bit numbers as unsigned ones; made for hashes. A first pass moves them into runs by
 * their leading bits. Two more passes order each run by the bits that follow, the lower ones first.
 * Then the numbers are almost in order, and an insertion sort finishes. So there is almost no
 * unpredictable branch. Numbers that are not spread evenly need the time of a comparison sort.
 */
public final class UnsignedSort {
  private static final int SMALL = 1 << 10;
  // The desired length of a run, as a power of two: short enough for the second pass to sort it in
  // the nearest caches. There must not be more runs than the first pass can write to at once.
  private static final int RUN_BITS = 12;
  private static final int FEW_RUNS_BITS = 10;
  private static final int MAX_RUN_BITS = 14;
  private static final int MIN_FIRST_BITS = 4;
  private static final int MAX_PLACE_BITS = 12;
  private static final int FEW = 48;
  // The number of moves for each number from which a comparison sort is faster than the insertion
  // sort.
  private static final int CROWDED = 8;
  private static final int MIN_PART = 1 << 16;
  private static final int MAX_PARTS = 16;
  private static final int PARTS_OF_THREAD = 4;

  private final long[] source;
  private final long[] target;
  private final int leading;
  private final int bits;
  private final int parts;

  private UnsignedSort(long[] source, int leading, int bits, int parts) {
    this.source = source;
    this.target = new long[source.length];
    this.leading = leading;
    this.bits = bits;
    this.parts = parts;
  }

  /** Returns the numbers in ascending unsigned order, in a new array; repeats are kept. */
  public static long[] sorted(long[] numbers) {
    return sorted(numbers, 1);
  }

  /** Like {@link #sorted(long[])}, but uses {@link ForkJoinPool#commonPool} if they are many. */
  public static long[] parallelSorted(long[] numbers) {
    return sorted(numbers, partsOf(numbers.length));
  }

  /**
   * Returns the number of parts into which to divide the work. There are more parts than threads,
   * because some threads start late.
   */
  static int partsOf(int length) {
    int threads = ForkJoinPool.getCommonPoolParallelism() + 1;
    int most = threads == 1 ? 1 : Math.min(PARTS_OF_THREAD * threads, MAX_PARTS);
    return Math.max(1, Math.min(length / MIN_PART, most));
  }

  static void forEachPart(int parts, IntConsumer work) {
    IntStream each = IntStream.range(0, parts);
    (parts == 1 ? each : each.parallel()).forEach(work);
  }

  static long[] sorted(long[] numbers, int parts) {
    int length = numbers.length;
    boolean ascending = isAscending(numbers);
    if (ascending || length < SMALL) {
      long[] copy = numbers.clone();
      if (!ascending) {
        sortByComparison(copy, 0, length);
      }
      return copy;
    }
    // Leading bits that all numbers share are skipped; the hashes of one shard share some. For
    // other numbers this loop ends soon, because the first bit differs.
    long differing = 0;
    for (int i = 1; i < length && differing >= 0; i++) {
      differing |= numbers[i] ^ numbers[0];
    }
    int shared = Long.numberOfLeadingZeros(differing);
    int few = Math.min(FEW_RUNS_BITS, Math.max(MIN_FIRST_BITS, bitsOf(length) - RUN_BITS));
    int bits = Math.max(few, bitsOf(length) - MAX_RUN_BITS);
    return new UnsignedSort(numbers, shared, bits, parts).sort();
  }

  private long[] sort() {
    int[][] places = new int[parts][1 << bits];
    forEachPart(
        parts, part -> count(source, begin(part), begin(part + 1), leading, bits, places[part]));
    int place = 0;
    for (int run = 0; run < 1 << bits; run++) {
      for (int[] ofPart : places) {
        int count = ofPart[run];
        ofPart[run] = place;
        place += count;
      }
    }
    forEachPart(
        parts,
        part -> move(source, begin(part), begin(part + 1), target, leading, bits, places[part]));
    int[] ends = places[parts - 1];
    int runsOfPart = (1 << bits) / parts;
    forEachPart(
        parts,
        part ->
            sortRuns(
                ends, part * runsOfPart, part == parts - 1 ? 1 << bits : (part + 1) * runsOfPart));
    return target;
  }

  private int begin(int part) {
    return (int) ((long) source.length * part / parts);
  }

  private void sortRuns(int[] ends, int firstRun, int endRun) {
    int longest = 0;
    for (int run = firstRun; run < endRun; run++) {
      longest = Math.max(longest, ends[run] - (run == 0 ? 0 : ends[run - 1]));
    }
    Runs runs = new Runs(longest);
    for (int run = firstRun; run < endRun; run++) {
      runs.sort(target, run == 0 ? 0 : ends[run - 1], ends[run], leading + bits);
    }
  }

  private static boolean isAscending(long[] numbers) {
    for (int i = 1; i < numbers.length; i++) {
      if (Long.compareUnsigned(numbers[i - 1], numbers[i]) > 0) {
        return false;
      }
    }
    return true;
  }

  private static int bitsOf(int length) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(length);
  }

  /** Sorts runs one at a time. A run is a range of numbers that share their leading bits. */
  private static final class Runs {
    private final long[] room;
    private final int[] lower = new int[1 << MAX_PLACE_BITS];
    private final int[] upper = new int[1 << MAX_PLACE_BITS];

    Runs(int longest) {
      room = new long[longest];
    }

    void sort(long[] numbers, int from, int to, int shared) {
      int length = to - from;
      // About half as many buckets as numbers in each pass. Both passes together then order by
      // about ten bits more than are needed to tell evenly spread numbers apart.
      int bits = Math.min(MAX_PLACE_BITS, bitsOf(length) - 1);
      if (length <= FEW || shared + 2 * bits > Long.SIZE) {
        sortByComparison(numbers, from, to);
        return;
      }
      int shift = Long.SIZE - shared - 2 * bits;
      int mask = (1 << bits) - 1;
      Arrays.fill(lower, 0, mask + 1, 0);
      Arrays.fill(upper, 0, mask + 1, 0);
      for (int i = from; i < to; i++) {
        int place = (int) (numbers[i] >>> shift);
        lower[place & mask]++;
        upper[place >>> bits & mask]++;
      }
      int lowerPlace = 0;
      int upperPlace = from;
      for (int value = 0; value <= mask; value++) {
        int count = lower[value];
        lower[value] = lowerPlace;
        lowerPlace += count;
        count = upper[value];
        upper[value] = upperPlace;
        upperPlace += count;
      }
      for (int i = from; i < to; i++) {
        long number = numbers[i];
        room[lower[(int) (number >>> shift) & mask]++] = number;
      }
      for (int i = 0; i < length; i++) {
        long number = room[i];
        numbers[upper[(int) (number >>> shift) >>> bits & mask]++] = number;
      }
      insert(numbers, from, to);
    }

    private static void insert(long[] numbers, int from, int to) {
      long movesLeft = (long) CROWDED * (to - from);
      for (int i = from + 1; i < to; i++) {
        long number = numbers[i];
        int at = i;
        while (at > from && Long.compareUnsigned(numbers[at - 1], number) > 0) {
          numbers[at] = numbers[at - 1];
          at--;
        }
        numbers[at] = number;
        movesLeft -= i - at;
        if (movesLeft < 0) {
          sortByComparison(numbers, from, to);
          return;
        }
      }
    }
  }

  /**
   * Counts the numbers of a range by some of their bits.
   *
   * @param counts receives the count for each value of these bits
   */
  private static void count(long[] source, int from, int to, int leading, int bits, int[] counts) {
    int shift = Long.SIZE - bits;
    int values = 1 << bits;
    Arrays.fill(counts, 0, values, 0);
    for (int i = from; i < to; i++) {
      counts[(int) ((source[i] << leading) >>> shift)]++;
    }
  }

  /**
   * Moves the numbers of a range to another array, ordered only by some of their bits.
   *
   * @param places for each value of these bits, the index of its first number; receives the index
   *     after its last
   */
  private static void move(
      long[] source, int from, int to, long[] target, int leading, int bits, int[] places) {
    int shift = Long.SIZE - bits;
    for (int i = from; i < to; i++) {
      long number = source[i];
      target[places[(int) ((number << leading) >>> shift)]++] = number;
    }
  }

  private static void sortByComparison(long[] numbers, int from, int to) {
    // Arrays.sort compares as signed; with the top bits flipped, that is the unsigned order.
    flipTopBits(numbers, from, to);
    Arrays.sort(numbers, from, to);
    flipTopBits(numbers, from, to);
  }

  private static void flipTopBits(long[] numbers, int from, int to) {
    for (int i = from; i < to; i++) {
      numbers[i] ^= Long.MIN_VALUE;
    }
  }
}
