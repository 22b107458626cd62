package io.firstseen.filters.cuckoo;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A part of a filter that every operation on one key stays within; the unit of state.
 *
 * <p>A page holds the identities whose leading {@code depth} bits are its prefix. It starts as a
 * list of identities and becomes a table of buckets. {@link #copy} is cheap: copies share the body
 * until one of them is written to.
 */
public abstract sealed class CuckooPage permits IdentityListPage, BucketPage {
  /** Most copies of one identity that a page stores: as many as two buckets of four slots hold. */
  public static final int MAX_COPIES = 8;

  private static final int ARRAY_HEADER_BYTES = 16;

  private static final AtomicIntegerFieldUpdater<CuckooPage> TIMES_WRITTEN =
      AtomicIntegerFieldUpdater.newUpdater(CuckooPage.class, "timesWritten");

  final CuckooShape shape;
  final byte depth;
  final int prefix;
  int count;
  byte[] body;

  /** The epochs of the keys; null if keys do not expire. */
  Epochs epochs;

  private boolean shared;
  private boolean lent;

  @SuppressWarnings("UnusedVariable") // By way of TIMES_WRITTEN.
  private volatile int timesWritten;

  CuckooPage(CuckooShape shape, int depth, int prefix, int count, byte[] body, Epochs epochs) {
    this.shape = shape;
    this.depth = (byte) depth;
    this.prefix = prefix;
    this.count = count;
    this.body = body;
    this.epochs = epochs;
  }

  /** The only page of an empty filter whose keys do not expire. */
  public static CuckooPage first(CuckooShape shape) {
    return new IdentityListPage(shape, null);
  }

  /** The only page of an empty filter whose keys expire. */
  static CuckooPage firstWithEpochs(CuckooShape shape) {
    return new IdentityListPage(shape, Epochs.NONE);
  }

  /** The shape of the filter that this page is of. */
  public final CuckooShape shape() {
    return shape;
  }

  /** How many leading bits all identities of this page share; the number of splits above it. */
  public final int depth() {
    return depth;
  }

  /** The bits that all identities of this page share, {@code depth} of them. */
  public final int prefix() {
    return prefix;
  }

  /** The number of this page among all pages of a filter: {@code 1 << depth | prefix}. */
  public final int id() {
    return 1 << depth | prefix;
  }

  /** Number of identities held, copies counted. */
  public final int count() {
    return count;
  }

  /** Whether the page's keys expire. */
  public final boolean hasEpochs() {
    return epochs != null;
  }

  /** Slots for identities, used or not; for a list, the identities held. */
  public abstract int slots();

  /** Bytes of the identities, free slots and numbers of epochs, without the page's own fields. */
  public abstract int bodyBytes();

  /** Bytes on the heap, estimated for compressed object pointers. */
  public final int heapBytes() {
    return objectBytes()
        + ARRAY_HEADER_BYTES
        + (body.length + 7) / 8 * 8
        + (epochs == null ? 0 : epochs.heapBytes());
  }

  /** An equal page; the two share their bytes until one is written to. */
  public final CuckooPage copy() {
    CuckooPage copy = sharing();
    copy.shared = true;
    shared = true;
    return copy;
  }

  /**
   * An equal page, while this one is read elsewhere and must not change, or not for long: the two
   * share their bytes, and the first few insertions into the returned page wait beside them rather
   * than have them cloned. {@link #ownAgain} ends that; {@link PagedFilter#settle} puts what waits
   * in its place.
   */
  public final CuckooPage lend() {
    CuckooPage copy = copy();
    copy.lent = true;
    return copy;
  }

  /** Tells this page that nobody reads its bytes any more who must not see them change. */
  public final void ownAgain() {
    if (shared) {
      shared = false;
      lent = false;
    }
  }

  /** Whether the page's bytes are left alone because they may be read elsewhere. */
  public final boolean isShared() {
    return shared;
  }

  /** Takes note that a reader of this object has read it whole and does not come back. */
  public final void noteWritten() {
    TIMES_WRITTEN.incrementAndGet(this);
  }

  /** How often {@link #noteWritten} was called, by any thread; what they read is read. */
  public final int timesWritten() {
    return timesWritten;
  }

  /** Whether insertions wait to be put in their place. */
  public boolean waits() {
    return false;
  }

  /**
   * Reads what says where the page's identities are. Done for the pages of several keys at once,
   * before their operations, it has the processor fetch all from memory together and not one by
   * one; then {@link #touch(long)} for each.
   *
   * @return something of what was read; to be kept, or the compiler may leave the reading out
   */
  public final long touch() {
    return body.length;
  }

  /**
   * Reads the places that any operation on an identity reads first.
   *
   * @return as {@link #touch()}
   */
  public abstract long touch(long identity);

  /**
   * Checks what reading a page does not: that every slot is well formed and the count is true.
   *
   * @throws MalformedFilterException if the page is damaged
   */
  public abstract void verify() throws MalformedFilterException;

  /** Bytes of the page's own object, without its body. */
  abstract int objectBytes();

  /** How a table's buckets are read; null for a list. */
  abstract BucketLayout layout();

  abstract CuckooPage sharing();

  /** Whether the body had better not be written to now. */
  final boolean isLent() {
    return lent;
  }

  /** To be called before any write to the body. */
  final void own() {
    if (shared) {
      body = body.clone();
      ownAgain();
    }
  }

  abstract boolean contains(long identity);

  /** Copies of the identity held. */
  abstract int copies(long identity);

  /**
   * Stores an identity, or returns false and leaves every byte as it was.
   *
   * @param number of its epoch, as {@link #number} gives it; 0 if keys do not expire
   */
  abstract boolean insert(long identity, int number, PathSearch search);

  /**
   * The number of the epoch of the keys that come next, from now on one of the page's. Where there
   * are too many, two of them become the later one, so that keys stay longer and none goes early.
   */
  final int number(Expiry expiry) {
    long end = expiry.endMillis();
    int number = epochs.numberOf(end);
    if (number >= 0) {
      return number;
    }
    number = epochs.unused();
    if (number < 0) {
      Epochs.Pair pair = epochs.closest(end, expiry.dueMillis() - expiry.ttlMillis());
      if (pair.earlier() == end) {
        return epochs.numberOf(pair.later());
      }
      number = epochs.numberOf(pair.earlier());
      if (pair.later() != end) {
        own();
        renumber(number, epochs.numberOf(pair.later()));
      }
    }
    epochs = epochs.with(number, end);
    return number;
  }

  /** Gives the keys of one epoch to another; the body may be written to. */
  abstract void renumber(int from, int to);

  /**
   * Lets the identity be of the epoch of the keys that come next if its own is older; of several
   * copies, the oldest.
   *
   * @return whether anything changed
   */
  abstract boolean renew(long identity, Expiry expiry);

  /**
   * Forgets the keys whose time is up.
   *
   * @return this page, or a narrower one in its place
   */
  abstract CuckooPage expire(Expiry expiry, PathSearch search);

  /** Puts what waits in its place, in the order it came, or as much of it as finds room. */
  boolean settle(PathSearch search) {
    return true;
  }

  /** Removes one copy of the identity, the oldest, or returns false. */
  abstract boolean remove(long identity);
}
