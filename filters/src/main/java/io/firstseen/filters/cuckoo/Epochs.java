package io.firstseen.filters.cuckoo;

import java.util.Arrays;

/**
 * The epochs that the keys of a page are of, each under a number below {@value #MAX} and known by
 * the instant at which it ended; immutable.
 *
 * <p>A number stands for the same epoch for as long as a key has it, so that keys need no touch
 * when time goes on. Of {@value #MAX} epochs, nine are the youngest that a time to live reaches
 * back to; two are left for keys whose time is ahead of now.
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

  /** Epochs by their ends, {@link #UNUSED} where a number has none. */
  static Epochs of(long[] ends) {
    return ends.length == 0 ? NONE : new Epochs(ends.clone());
  }

  /** One more than the highest number that has an epoch. */
  int size() {
    return ends.length;
  }

  /** End of the epoch with a number, {@link #UNUSED} if there is none. */
  long end(int number) {
    return number < ends.length ? ends[number] : UNUSED;
  }

  /** The number of the epoch with this end, -1 if there is none. */
  int numberOf(long end) {
    for (int number = 0; number < ends.length; number++) {
      if (ends[number] == end) {
        return number;
      }
    }
    return -1;
  }

  /** A number without an epoch, -1 if all have one. */
  int unused() {
    int number = numberOf(UNUSED);
    return number >= 0 || ends.length == MAX ? number : ends.length;
  }

  /** The ends of two epochs. */
  record Pair(long earlier, long later) {}

  /**
   * The two neighbours among these epochs and one more that do the least harm as one, which is to
   * keep keys of the earlier until the later is due: those that reach the least far back from the
   * end of the later to that of the epoch before both, as that one may have been merged into the
   * earlier one already.
   *
   * @param another end of the epoch that is one too many
   * @param floor what stands for the end of the epoch before the oldest
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

  /** A bit for each number whose epoch ended at an instant or before. */
  int endedBy(long instant) {
    int numbers = 0;
    for (int number = 0; number < ends.length; number++) {
      numbers |= ends[number] != UNUSED && ends[number] <= instant ? 1 << number : 0;
    }
    return numbers;
  }

  /** These epochs, but with another one under a number, or {@link #UNUSED}. */
  Epochs with(int number, long end) {
    long[] changed = Arrays.copyOf(ends, Math.max(ends.length, number + 1));
    Arrays.fill(changed, ends.length, changed.length, UNUSED);
    changed[number] = end;
    return new Epochs(changed);
  }

  /** These epochs without those that have a bit. */
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
