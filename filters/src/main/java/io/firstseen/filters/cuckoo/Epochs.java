package io.firstseen.filters.cuckoo;

import java.util.Arrays;

/**
 * The epochs of a page's keys. Each has a number below {@value #MAX} and is identified by the
 * instant at which it ends. Immutable.
 *
 * <p>A number stands for the same epoch as long as a key has it, so keys do not have to change as
 * time advances. Of {@value #MAX} epochs, nine cover a time to live; two are left for keys whose
 * time is ahead of the current time.
 */
final class Epochs {
  static final int MAX = EpochNumbers.RADIX;

  static final Epochs NONE = new Epochs(new long[0]);

  /** Stands for a number without an epoch. */
  static final long UNUSED = Long.MIN_VALUE;

  private final long[] ends;

  /** End of the oldest epoch; the latest instant of all if there is none. */
  final long oldest;

  private Epochs(long[] ends) {
    int used = ends.length;
    while (used > 0 && ends[used - 1] == UNUSED) {
      used--;
    }
    this.ends = used == ends.length ? ends : Arrays.copyOf(ends, used);
    long least = Long.MAX_VALUE;
    for (long end : this.ends) {
      least = end == UNUSED ? least : Math.min(least, end);
    }
    this.oldest = least;
  }

  /** Creates the epochs with these ends, {@link #UNUSED} for a number without an epoch. */
  static Epochs of(long[] ends) {
    return ends.length == 0 ? NONE : new Epochs(ends.clone());
  }

  /** Returns the highest number that has an epoch, plus one. */
  int size() {
    return ends.length;
  }

  /** Returns the end of the epoch with a number, {@link #UNUSED} if there is none. */
  long end(int number) {
    return number < ends.length ? ends[number] : UNUSED;
  }

  /** Returns the number of the epoch with this end, -1 if there is none. */
  int numberOf(long end) {
    for (int number = 0; number < ends.length; number++) {
      if (ends[number] == end) {
        return number;
      }
    }
    return -1;
  }

  /** Returns a number without an epoch, -1 if all have one. */
  int unused() {
    int number = numberOf(UNUSED);
    return number >= 0 || ends.length == MAX ? number : ends.length;
  }

  /** The ends of two epochs. */
  record Pair(long earlier, long later) {}

  /**
   * Returns the two neighbours, among these epochs and one more, whose merging extends the life of
   * keys the least. A merge keeps the keys of the earlier epoch until the later one is due. The two
   * chosen have the shortest time from the end of the epoch before both to the end of the later
   * one, because the epoch before may have been merged into the earlier one already.
   *
   * @param another the end of the additional epoch
   * @param floor used as the end of the epoch before the oldest
   */
  Pair closest(long another, long floor) {
    long[] sorted = Arrays.copyOf(ends, ends.length + 1);
    sorted[ends.length] = another;
    Arrays.sort(sorted);
    int best = -1;
    long least = Long.MAX_VALUE;
    for (int i = 0; i + 1 < sorted.length; i++) {
      long reach = sorted[i + 1] - (i == 0 ? floor : sorted[i - 1]);
      if (reach <= least) {
        least = reach;
        best = i;
      }
    }
    return new Pair(sorted[best], sorted[best + 1]);
  }

  /** Returns a bit set with the numbers whose epoch ended at or before an instant. */
  int endedBy(long instant) {
    int numbers = 0;
    for (int number = 0; number < ends.length; number++) {
      numbers |= ends[number] != UNUSED && ends[number] <= instant ? 1 << number : 0;
    }
    return numbers;
  }

  /** Returns a copy with another epoch, or {@link #UNUSED}, for a number. */
  Epochs with(int number, long end) {
    long[] changed = Arrays.copyOf(ends, Math.max(ends.length, number + 1));
    Arrays.fill(changed, ends.length, changed.length, UNUSED);
    changed[number] = end;
    return new Epochs(changed);
  }

  /** Returns a copy without the epochs of a bit set. */
  Epochs without(int numbers) {
    long[] changed = ends.clone();
    for (int number = 0; number < changed.length; number++) {
      if ((numbers >>> number & 1) != 0) {
        changed[number] = UNUSED;
      }
    }
    return new Epochs(changed);
  }

  int heapBytes() {
    return 24 + 16 + Long.BYTES * ends.length;
  }
}
