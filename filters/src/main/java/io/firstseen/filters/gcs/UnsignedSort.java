package io.firstseen.filters.gcs;

import java.util.Arrays;

/**
 * Sorts 64-bit numbers as unsigned ones, made for hashes: two passes put each near its place by its
 * leading bits, and an insertion sort finishes. Numbers that crowd together cost the time of a
 * comparison sort.
 */
public final class UnsignedSort {
  private static final int SMALL = 1 << 10;
  // Runs of 2,048 to 4,096 numbers, which fit in the nearest cache.
  private static final int RUN_BITS = 12;
  private static final int MIN_FIRST_BITS = 4;
  private static final int MAX_SECOND_BITS = 13;
  private static final int CROWDED = 48;

  private UnsignedSort() {}

  /** The numbers in ascending unsigned order, in an array of their own; repeats stay. */
  public static long[] sorted(long[] numbers) {
    int length = numbers.length;
    long all = -1;
    long any = 0;
    boolean ascending = true;
    for (int i = 0; i < length; i++) {
      all &= numbers[i];
      any |= numbers[i];
      ascending &= i == 0 || Long.compareUnsigned(numbers[i - 1], numbers[i]) <= 0;
    }
    if (ascending || length < SMALL) {
      long[] copy = numbers.clone();
      if (!ascending) {
        sortByComparison(copy, 0, length);
      }
      return copy;
    }
    // Leading bits that all numbers share say nothing: hashes of one shard have some.
    int shared = Long.numberOfLeadingZeros(all ^ any);
    int bits = Math.max(MIN_FIRST_BITS, bitsOf(length) - RUN_BITS);
    long[] result = new long[length];
    int[] ends = new int[1 << bits];
    int longest = distribute(numbers, 0, length, result, shared, bits, ends);
    long[] room = new long[longest];
    int[] places = new int[1 << Math.min(MAX_SECOND_BITS, bitsOf(longest))];
    int from = 0;
    for (int end : ends) {
      sortRun(result, from, end, room, shared + bits, places);
      from = end;
    }
    return result;
  }

  private static int bitsOf(int length) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(length);
  }

  /** Sorts a range of numbers that share their leading bits. */
  private static void sortRun(
      long[] numbers, int from, int to, long[] room, int shared, int[] places) {
    int length = to - from;
    int bits = Math.min(MAX_SECOND_BITS, bitsOf(length) - 1);
    if (length <= CROWDED || shared + bits > Long.SIZE) {
      sortByComparison(numbers, from, to);
      return;
    }
    if (distribute(numbers, from, to, room, shared, bits, places) > CROWDED) {
      sortByComparison(numbers, from, to);
      return;
    }
    numbers[from] = room[0];
    for (int i = 1; i < length; i++) {
      long number = room[i];
      int place = from + i;
      while (place > from && Long.compareUnsigned(numbers[place - 1], number) > 0) {
        numbers[place] = numbers[place - 1];
        place--;
      }
      numbers[place] = number;
    }
  }

  /**
   * Moves the numbers of a range to the beginning of another array, ordered by some bits alone.
   *
   * @param places room for a number of each value of these bits; gets where they end
   * @return how many numbers have the commonest bits
   */
  private static int distribute(
      long[] source, int from, int to, long[] target, int leading, int bits, int[] places) {
    int shift = Long.SIZE - bits;
    int values = 1 << bits;
    Arrays.fill(places, 0, values, 0);
    for (int i = from; i < to; i++) {
      places[(int) ((source[i] << leading) >>> shift)]++;
    }
    int place = 0;
    int most = 0;
    for (int value = 0; value < values; value++) {
      int count = places[value];
      places[value] = place;
      place += count;
      most = Math.max(most, count);
    }
    for (int i = from; i < to; i++) {
      long number = source[i];
      target[places[(int) ((number << leading) >>> shift)]++] = number;
    }
    return most;
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
