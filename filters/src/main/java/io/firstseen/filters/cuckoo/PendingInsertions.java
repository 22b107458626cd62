package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * The identities that were inserted while a page was frozen, in their order, with the numbers of
 * their epochs. They are added to the table when the page may change again. A page that was read
 * from state also keeps the insertions of its log here.
 */
final class PendingInsertions {
  /** For a page without pending insertions; shared and never changed. */
  static final PendingInsertions NONE = new PendingInsertions(PendingInsertions.MAX, 0);

  /**
   * The maximum number of pending insertions of a frozen page; they take little memory compared to
   * the page's body.
   */
  static final int MAX = 16;

  /** The maximum number of pending insertions from a log. */
  static final int MAX_LOGGED = 128;

  private static final int FIRST_ROOM = 4;

  private final int max;
  private long[] entries;
  private int count;

  private PendingInsertions(int max, int room) {
    this.max = max;
    this.entries = new long[room];
  }

  /**
   * Returns an object with room for insertions.
   *
   * @param max {@link #MAX} or {@link #MAX_LOGGED}
   */
  static PendingInsertions empty(int max) {
    return new PendingInsertions(max, FIRST_ROOM);
  }

  PendingInsertions copy() {
    if (count == 0) {
      return NONE;
    }
    PendingInsertions copy = new PendingInsertions(max, 0);
    copy.entries = entries.clone();
    copy.count = count;
    return copy;
  }

  int count() {
    return count;
  }

  boolean isFull() {
    return count >= max;
  }

  /** Returns the number of bytes on the heap. */
  int heapBytes() {
    return Long.BYTES * entries.length;
  }

  long identity(int i) {
    return NumberedIdentity.identity(entries[i]);
  }

  int number(int i) {
    return NumberedIdentity.number(entries[i]);
  }

  void add(long identity, int number) {
    if (count == entries.length) {
      entries = Arrays.copyOf(entries, 2 * count);
    }
    entries[count++] = NumberedIdentity.of(identity, number);
  }

  /** Drops the first of them. */
  void removeFirst(int some) {
    count -= some;
    System.arraycopy(entries, some, entries, 0, count);
  }

  int copies(long identity) {
    long other = BucketPairs.other(identity);
    int copies = 0;
    for (int i = 0; i < count; i++) {
      long entry = identity(i);
      copies += entry == identity || entry == other ? 1 : 0;
    }
    return copies;
  }

  void textTags(long identity, int tagBits, IntConsumer found) {
    long lower = BucketPairs.lower(identity);
    for (int i = 0; i < count; i++) {
      CuckooPage.textTag(BucketPairs.lower(identity(i)), lower, tagBits, found);
    }
  }

  /** Returns the index of the copy of an identity whose epoch ends first, or -1. */
  int oldest(long identity, Epochs epochs) {
    long lower = BucketPairs.lower(identity);
    int oldest = -1;
    for (int i = 0; i < count; i++) {
      if (BucketPairs.lower(identity(i)) == lower
          && (oldest < 0 || epochs.end(number(i)) < epochs.end(number(oldest)))) {
        oldest = i;
      }
    }
    return oldest;
  }

  void setNumber(int i, int number) {
    entries[i] = NumberedIdentity.of(identity(i), number);
  }

  void renumber(int from, int to) {
    for (int i = 0; i < count; i++) {
      if (number(i) == from) {
        setNumber(i, to);
      }
    }
  }

  /**
   * Drops the identities of expired epochs.
   *
   * @param ended a bit set with the numbers of these epochs
   */
  void removeEnded(int ended) {
    if (count == 0) {
      return;
    }
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if ((ended >>> number(i) & 1) == 0) {
        entries[kept++] = entries[i];
      }
    }
    count = kept;
  }
}
