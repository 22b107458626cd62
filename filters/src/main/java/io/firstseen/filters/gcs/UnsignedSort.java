package io.firstseen.filters.gcs;

import java.util.Arrays;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Sorts 64-bit numbers as unsigned ones, made for hashes: two passes put each near its place by its
 * leading bits, and an insertion sort finishes. Numbers that crowd together cost the time of a
 * comparison sort.
 */
public final class UnsignedSort {
  private static final int SMALL = 1 << 10;
  // Runs that the second pass can sort in the nearest caches, where there are no more runs than the
  // first pass can write to at once.
  private static final int RUN_BITS = 12;
  private static final int FEW_RUNS_BITS = 10;
  private static final int MAX_RUN_BITS = 14;
  private static final int MIN_FIRST_BITS = 4;
  private static final int MAX_PLACE_BITS = 20;
  private static final int CROWDED = 48;
  private static final int MIN_PART = 1 << 16;
  private static final int MAX_PARTS = 16;

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

  /** The numbers in ascending unsigned order, in an array of their own; repeats stay. */
  public static long[] sorted(long[] numbers) {
    return sorted(numbers, 1);
  }

  /** Like {@link #sorted}, with the help of {@link ForkJoinPool#commonPool} if they are many. */
  public static long[] parallelSorted(long[] numbers) {
    return sorted(numbers, partsOf(numbers.length));
  }

  /** Into how many parts so many numbers are worth being taken, for each a thread. */
  static int partsOf(int length) {
    int threads = ForkJoinPool.getCommonPoolParallelism() + 1;
    return Math.max(1, Math.min(length / MIN_PART, Math.min(threads, MAX_PARTS)));
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
    long all = -1;
    long any = 0;
    for (long number : numbers) {
      all &= number;
      any |= number;
    }
    // Leading bits that all numbers share say nothing: hashes of one shard have some.
    int shared = Long.numberOfLeadingZeros(all ^ any);
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
    long[] room = new long[longest];
    int[] places = new int[1 << placeBits(longest)];
    for (int run = firstRun; run < endRun; run++) {
      sortRun(target, run == 0 ? 0 : ends[run - 1], ends[run], room, leading + bits, places);
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

  /** For 1.5 to 3 times as many places as numbers: the insertion sort then seldom moves one. */
  private static int placeBits(int length) {
    return Math.min(MAX_PLACE_BITS, bitsOf(length + Math.min(length, 1 << MAX_PLACE_BITS) / 2));
  }

  /** Sorts a range of numbers that share their leading bits. */
  private static void sortRun(
      long[] numbers, int from, int to, long[] room, int shared, int[] places) {
    int length = to - from;
    int bits = placeBits(length);
    if (length <= CROWDED || shared + bits > Long.SIZE) {
      sortByComparison(numbers, from, to);
      return;
    }
    if (count(numbers, from, to, shared, bits, places) > CROWDED) {
      sortByComparison(numbers, from, to);
      return;
    }
    int place = 0;
    for (int value = 0; value < 1 << bits; value++) {
      int count = places[value];
      places[value] = place;
      place += count;
    }
    move(numbers, from, to, room, shared, bits, places);
    numbers[from] = room[0];
    for (int i = 1; i < length; i++) {
      long number = room[i];
      int at = from + i;
      while (at > from && Long.compareUnsigned(numbers[at - 1], number) > 0) {
        numbers[at] = numbers[at - 1];
        at--;
      }
      numbers[at] = number;
    }
  }

  /**
   * Counts the numbers of a range by some bits of theirs.
   *
   * @param counts room for each value of these bits
   * @return how many numbers have the commonest bits
   */
  private static int count(long[] source, int from, int to, int leading, int bits, int[] counts) {
    int shift = Long.SIZE - bits;
    int values = 1 << bits;
    Arrays.fill(counts, 0, values, 0);
    for (int i = from; i < to; i++) {
      counts[(int) ((source[i] << leading) >>> shift)]++;
    }
    int most = 0;
    for (int value = 0; value < values; value++) {
      most = Math.max(most, counts[value]);
    }
    return most;
  }

  /**
   * Moves the numbers of a range to another array, ordered by some bits alone.
   *
   * @param places where the first number of each value of these bits belongs; gets where they end
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
    // Arrays.sort orders by sign; flipping the top bit makes that the unsigned order.
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
