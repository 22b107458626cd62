package io.firstseen.filters.cuckoo;

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

  final CuckooShape shape;
  final byte depth;
  final int prefix;
  int count;
  byte[] body;

  /** The epochs of the keys; null if keys do not expire. */
  Epochs epochs;

  private boolean shared;
  private boolean lent;
  private int tag;

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

  /** Number of identities held, copies and what waits counted. */
  public int count() {
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
   * Says whether another thread may be writing this page by {@link CuckooFormat}, so that nothing
   * may change that is written. Meanwhile the first few insertions wait beside it; {@link
   * PagedFilter} does what cannot wait to a page of the same content that takes this one's place.
   * Afterwards {@link PagedFilter#settle} puts what waits in its place.
   */
  public final void setLent(boolean lent) {
    if (this.lent != lent) {
      this.lent = lent;
    }
  }

  /** Whether the page must not change because it may be being written. */
  public final boolean isLent() {
    return lent;
  }

  /** Whether the page's bytes are also those of a copy. */
  final boolean isShared() {
    return shared;
  }

  /** The number given to the page; 0 if none was. */
  public final int tag() {
    return tag;
  }

  /** Gives the page a number, for who keeps pages of several filters. It is not written. */
  public final void setTag(int tag) {
    this.tag = tag;
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
    return (long) body.length + count;
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

  /**
   * A page of the same content that may be changed, with bytes of its own, to take the place of
   * this one, which is lent.
   */
  CuckooPage unlent() {
    CuckooPage page = sharing();
    page.body = body.clone();
    return page;
  }

  /** To be called before any write to the body. */
  final void own() {
    if (lent) {
      throw new IllegalStateException("a page must not change while it is lent");
    }
    if (shared) {
      body = body.clone();
      shared = false;
    }
  }

  /**
   * Whether one more insertion can wait beside this page, which is lent.
   *
   * @param expiry null if keys do not expire
   */
  abstract boolean canAwait(Expiry expiry);

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
   * @return the page in which it is, another one if this one is lent; null if nothing changed
   */
  abstract CuckooPage renew(long identity, Expiry expiry);

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
