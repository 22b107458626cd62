package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The latest changes of a filter's pages, in their order, until {@link #seal} makes a {@link
 * LogSegment} of them.
 */
public final class OpenSegment {
  private static final int FIRST_ROOM = 16;
  private static final long[] NO_INSTANTS = {};
  private static final short[] NO_INDEX = {};

  /** The most leading bits of the identities by which the changes are indexed. */
  private static final int MAX_INDEX_BITS = 11;

  private static final int KIND_SHIFT = CuckooShape.MAX_IDENTITY_BITS;
  private static final int INSTANTS_SHIFT = KIND_SHIFT + LogSegment.KIND_BITS;

  private final CuckooShape shape;
  private int pageDepth;
  private long[] changes = new long[FIRST_ROOM];
  private int count;

  /** See {@link LogSegment#INSTANTS}. */
  private long[] instants = NO_INSTANTS;

  /** The number of changes that are indexed, the first ones. */
  private int indexed;

  /**
   * For each value of the index bits, the last indexed change with it plus 1; 0 if there is none.
   */
  private short[] lastOf = NO_INDEX;

  /** For each indexed change, the next one with its index bits; for the last one, the first one. */
  private short[] following = NO_INDEX;

  /**
   * @param pageDepth the least depth of the pages to which the changes will be applied, or less
   */
  public OpenSegment(CuckooShape shape, int pageDepth) {
    this.shape = shape;
    this.pageDepth = pageDepth;
  }

  /** Returns the number of changes. */
  public int count() {
    return count;
  }

  /** Returns the number of bytes on the heap. */
  public int heapBytes() {
    return Long.BYTES * (changes.length + instants.length)
        + Short.BYTES * (lastOf.length + following.length);
  }

  /**
   * Adds a change.
   *
   * @param expiry with the instants of the change; null if keys do not expire
   * @return false, without an effect, if the segment is full and must be sealed before
   */
  public boolean add(PageChange change, long identity, @Nullable Expiry expiry) {
    int place = count == LogSegment.MAX_COUNT ? -1 : expiry == null ? 0 : place(expiry);
    if (place < 0) {
      return false;
    }
    if (count == changes.length) {
      changes = Arrays.copyOf(changes, 2 * count);
    }
    changes[count++] = (long) place << INSTANTS_SHIFT | (long) change.code << KIND_SHIFT | identity;
    return true;
  }

  /** Returns the place of the instants of a change; -1 if there is no room for them. */
  private int place(Expiry expiry) {
    // The last are the likeliest.
    for (int at = instants.length - LogSegment.INSTANTS; at >= 0; at -= LogSegment.INSTANTS) {
      if (instants[at] == expiry.dueMillis()
          && instants[at + 1] == expiry.floorMillis()
          && instants[at + 2] == expiry.endMillis()) {
        return at / LogSegment.INSTANTS;
      }
    }
    int at = instants.length;
    if (at == LogSegment.INSTANTS * LogSegment.MAX_INSTANTS) {
      return -1;
    }
    instants = Arrays.copyOf(instants, at + LogSegment.INSTANTS);
    instants[at] = expiry.dueMillis();
    instants[at + 1] = expiry.floorMillis();
    instants[at + 2] = expiry.endMillis();
    return at / LogSegment.INSTANTS;
  }

  /**
   * Removes all changes.
   *
   * @param newPageDepth the least depth of the pages to which the next changes will be applied, or
   *     less
   */
  public void clear(int newPageDepth) {
    pageDepth = newPageDepth;
    count = 0;
    changes = new long[FIRST_ROOM];
    instants = NO_INSTANTS;
    indexed = 0;
    lastOf = NO_INDEX;
    following = NO_INDEX;
  }

  /** Returns the changes as a segment, and removes them. */
  public LogSegment seal() {
    int groupBits = LogSegment.groupBits(shape, pageDepth, count);
    int[] next = new int[(1 << groupBits) + 1];
    for (int i = 0; i < count; i++) {
      next[shape.prefix(identity(i), groupBits) + 1]++;
    }
    int[] counts = Arrays.copyOfRange(next, 1, next.length);
    for (int group = 1; group < next.length; group++) {
      next[group] += next[group - 1];
    }
    LogSegment segment = LogSegment.of(shape, groupBits, counts, instants);
    for (int i = 0; i < count; i++) {
      int at = next[shape.prefix(identity(i), groupBits)]++;
      segment.set(at, change(i), identity(i), place(i));
    }
    // The next segment will probably have about as many changes.
    long[] room = 2 * count < changes.length ? new long[FIRST_ROOM] : changes;
    clear(pageDepth);
    changes = room;
    return segment;
  }

  /** Returns whether the page of an identity may have a change. */
  public boolean mayChange(long identity) {
    index();
    return lastOf[shape.prefix(identity, indexBits())] != 0;
  }

  private int indexBits() {
    return Math.min(pageDepth, MAX_INDEX_BITS);
  }

  /** Repeats the changes of identities between two, both included. */
  void repeat(long first, long last, LogReplay replay) {
    index();
    int bits = shape.prefix(first, indexBits());
    int end = lastOf[bits] - 1;
    if (end >= 0) {
      int i = end;
      do {
        i = following[i];
        repeat(i, first, last, replay);
      } while (i != end);
    }
  }

  private void repeat(int i, long first, long last, LogReplay replay) {
    long identity = identity(i);
    if (identity >= first && identity <= last) {
      if (instants.length > 0) {
        replay.setInstants(instants, LogSegment.INSTANTS * place(i));
      }
      replay.repeat(change(i), identity);
    }
  }

  /** Adds the changes since the last call to the index. */
  private void index() {
    if (following.length < changes.length) {
      following = Arrays.copyOf(following, changes.length);
      lastOf = Arrays.copyOf(lastOf, 1 << indexBits());
    }
    for (; indexed < count; indexed++) {
      int bits = shape.prefix(identity(indexed), indexBits());
      int before = lastOf[bits] - 1;
      following[indexed] = before < 0 ? (short) indexed : following[before];
      if (before >= 0) {
        following[before] = (short) indexed;
      }
      lastOf[bits] = (short) (indexed + 1);
    }
  }

  private long identity(int i) {
    return changes[i] & BitFields.mask(KIND_SHIFT);
  }

  private PageChange change(int i) {
    return PageChange.of((int) (changes[i] >>> KIND_SHIFT) & ((1 << LogSegment.KIND_BITS) - 1));
  }

  private int place(int i) {
    return (int) (changes[i] >>> INSTANTS_SHIFT);
  }
}
