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
  final int depth;
  final int prefix;
  int count;
  byte[] body;
  private boolean shared;
  private boolean lent;

  CuckooPage(CuckooShape shape, int depth, int prefix, int count, byte[] body) {
    this.shape = shape;
    this.depth = depth;
    this.prefix = prefix;
    this.count = count;
    this.body = body;
  }

  /** The only page of an empty filter. */
  public static CuckooPage first(CuckooShape shape) {
    return new IdentityListPage(shape);
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

  /** Slots for identities, used or not; for a list, the identities held. */
  public abstract int slots();

  /** Bytes of the identities and free slots, without the page's own fields. */
  public abstract int bodyBytes();

  /** Bytes on the heap, estimated for compressed object pointers. */
  public final int heapBytes() {
    return objectBytes() + ARRAY_HEADER_BYTES + (body.length + 7) / 8 * 8;
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

  /** Whether insertions wait to be put in their place. */
  public boolean waits() {
    return false;
  }

  /**
   * Checks what reading a page does not: that every slot is well formed and the count is true.
   *
   * @throws MalformedFilterException if the page is damaged
   */
  public abstract void verify() throws MalformedFilterException;

  /** Bytes of the page's own object, without its body. */
  abstract int objectBytes();

  /** The layout of a table of buckets, 0 for a list. */
  abstract long layout();

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

  /** Stores an identity, or returns false and leaves every byte as it was. */
  abstract boolean insert(long identity, PathSearch search);

  /** Puts what waits in its place, in the order it came, or as much of it as finds room. */
  boolean settle(PathSearch search) {
    return true;
  }

  /** Removes one copy of the identity, or returns false. */
  abstract boolean remove(long identity);
}
