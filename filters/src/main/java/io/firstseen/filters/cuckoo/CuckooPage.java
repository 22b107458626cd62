package io.firstseen.filters.cuckoo;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a filter, and the unit of state. Every operation on a key stays within one page.
 *
 * <p>A page holds the identities (the P-bit fingerprints that keys keep for life) whose leading
 * {@code depth} bits are its prefix. It starts as a list of identities and becomes a table of
 * buckets. {@link #copy} is cheap: copies share the body until one of them is written to.
 */
public abstract sealed class CuckooPage permits IdentityListPage, BucketPage {
  /**
   * The maximum number of copies of one identity that a page stores: two buckets of four slots hold
   * as many.
   */
  public static final int MAX_COPIES = 8;

  private static final int ARRAY_HEADER_BYTES = 16;

  final CuckooShape shape;
  final byte depth;
  final int prefix;
  int count;
  byte[] body;

  /** The epochs of the keys; null if keys do not expire. */
  @Nullable Epochs epochs;

  private boolean shared;
  private boolean frozen;
  private int tag;

  CuckooPage(
      CuckooShape shape, int depth, int prefix, int count, byte[] body, @Nullable Epochs epochs) {
    this.shape = shape;
    this.depth = (byte) depth;
    this.prefix = prefix;
    this.count = count;
    this.body = body;
    this.epochs = epochs;
  }

  /**
   * Returns the only page of an empty filter.
   *
   * @param expiry null if its keys do not expire
   */
  public static CuckooPage first(CuckooShape shape, @Nullable Expiry expiry) {
    return new IdentityListPage(shape, expiry == null ? null : Epochs.NONE);
  }

  /** Returns the shape of the page's filter. */
  public final CuckooShape shape() {
    return shape;
  }

  /**
   * Returns how many leading bits all identities of this page share; the number of splits above it.
   */
  public final int depth() {
    return depth;
  }

  /** Returns the bits that all identities of this page share, {@code depth} of them. */
  public final int prefix() {
    return prefix;
  }

  /** Returns the number of this page among all pages of a filter: {@code 1 << depth | prefix}. */
  public final int id() {
    return 1 << depth | prefix;
  }

  /** Returns the number of identities held, with copies and pending insertions. */
  public int count() {
    return count;
  }

  /** Returns whether the page's keys expire. */
  public final boolean hasEpochs() {
    return epochs != null;
  }

  /** Returns the number of slots for identities, used or not; for a list, the identities held. */
  public abstract int slots();

  /**
   * Returns the number of bytes of the identities, free slots and numbers of epochs, without the
   * page's own fields.
   */
  public abstract int bodyBytes();

  /** Returns the number of bytes on the heap, estimated for compressed object pointers. */
  public final int heapBytes() {
    return objectBytes()
        + ARRAY_HEADER_BYTES
        + (body.length + 7) / 8 * 8
        + (epochs == null ? 0 : epochs.heapBytes());
  }

  /** Returns an equal page; the two share their bytes until one is written to. */
  public final CuckooPage copy() {
    CuckooPage copy = sharingBody();
    copy.shared = true;
    shared = true;
    return copy;
  }

  /**
   * Freezes or thaws the page. A page is frozen while another thread may be writing it by {@link
   * CuckooFormat}; its written bytes then do not change. The first few insertions are kept as
   * pending insertions, which {@link PagedFilter#insertPending} later adds to the page. For every
   * other change, {@link PagedFilter} replaces the page with a copy. A page whose log {@link
   * LogReplay} keeps as pending insertions is also frozen, until {@link #canDefer} returns false.
   */
  public final void setFrozen(boolean frozen) {
    if (this.frozen != frozen) {
      this.frozen = frozen;
    }
  }

  /** Returns whether the page must not change because a checkpoint may still be writing it. */
  public final boolean isFrozen() {
    return frozen;
  }

  /**
   * Returns whether one more insertion of a log may stay pending. The page has room for it without
   * becoming wider, unless keys are chosen so that their buckets collide.
   */
  public boolean canDefer() {
    return false;
  }

  /**
   * Returns the number of further insertions of a log that may stay pending, see {@link #canDefer}.
   */
  int deferrable() {
    return 0;
  }

  /** Returns whether the body may be written to without a copy of it. */
  final boolean isWritable() {
    return !shared && !frozen;
  }

  /**
   * Returns a lower bound of the page's identities, by which its store finds it. It has core 0, so
   * it is not an identity.
   */
  public final long firstIdentity() {
    return shape.firstIdentity(prefix, depth);
  }

  /** Returns the number given to the page; 0 if none was. */
  public final int tag() {
    return tag;
  }

  /** Gives the page a number, for stores of several filters. It is not written. */
  public final void setTag(int tag) {
    this.tag = tag;
  }

  /** Returns whether there are insertions that are not in the table yet. */
  public boolean hasPending() {
    return false;
  }

  /**
   * Reads the fields that locate the page's identities. Called for the pages of several keys before
   * their operations, it makes the processor load them from memory in parallel. {@link
   * #touch(long)} is the next step.
   *
   * @return a value that depends on what was read; the caller must use it, so that the compiler
   *     does not remove the read
   */
  public final long touch() {
    return (long) body.length + count;
  }

  /**
   * Reads the positions that any operation on an identity reads first.
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

  /** Returns the number of bytes of the page's own object, without its body. */
  abstract int objectBytes();

  /** Returns a page of the same content with the same body. */
  abstract CuckooPage sharingBody();

  /**
   * Returns a page with the same content and a separate body, which replaces this frozen page. The
   * pending insertions move to the new page.
   */
  abstract CuckooPage writableCopy();

  /** Copies the body if a copy of the page shares it; to be called before any write to it. */
  final void unshareBody() {
    if (frozen) {
      throw new IllegalStateException("a page must not change while it is frozen");
    }
    if (shared) {
      body = body.clone();
      shared = false;
    }
  }

  /**
   * Returns whether this frozen page can take one more pending insertion.
   *
   * @param expiry null if keys do not expire
   */
  abstract boolean canAddPending(@Nullable Expiry expiry);

  abstract boolean contains(long identity);

  /** Returns the number of copies of the identity. */
  abstract int copies(long identity);

  /**
   * Reports the text tag of each copy of an identity, whatever its text tag; see {@link
   * PagedFilter#textTags}.
   */
  abstract void textTags(long identity, int tagBits, IntConsumer found);

  /** Reports the text tag of {@code held} if it equals {@code identity} except for that tag. */
  static void textTag(long held, long identity, int tagBits, IntConsumer found) {
    int mask = (1 << tagBits) - 1;
    if (((held ^ identity) & ~((long) mask << CuckooShape.TEXT_TAG_SHIFT)) == 0) {
      found.accept((int) (held >>> CuckooShape.TEXT_TAG_SHIFT) & mask);
    }
  }

  /**
   * Stores an identity, or returns false and leaves every byte as it was.
   *
   * @param number of its epoch, as {@link #number} gives it; 0 if keys do not expire
   */
  abstract boolean insert(long identity, int number, PathSearch search);

  /**
   * Returns the number of the epoch of the next keys, which becomes one of the page's epochs. If
   * there are too many, two epochs are merged into the later one: some keys are kept longer, but no
   * key is forgotten early.
   */
  final int number(Expiry expiry) {
    long end = expiry.endMillis();
    int number = epochs.numberOf(end);
    if (number >= 0) {
      return number;
    }
    number = epochs.unused();
    if (number < 0) {
      Epochs.Pair pair = epochs.closest(end, expiry.floorMillis());
      if (pair.earlier() == end) {
        return epochs.numberOf(pair.later());
      }
      number = epochs.numberOf(pair.earlier());
      if (pair.later() != end) {
        unshareBody();
        renumber(number, epochs.numberOf(pair.later()));
      }
    }
    epochs = epochs.with(number, end);
    return number;
  }

  /** Gives the keys of one epoch to another; the body may be written to. */
  abstract void renumber(int from, int to);

  /**
   * Moves an identity (of several copies, the oldest) to the epoch of the next keys if its epoch is
   * older.
   *
   * @return the page that holds it, a copy if this one is frozen; null if nothing changed
   */
  abstract @Nullable CuckooPage renew(long identity, Expiry expiry);

  /**
   * Forgets the expired keys.
   *
   * @return this page, or a narrower one that replaces it
   */
  abstract CuckooPage expire(Expiry expiry, PathSearch search);

  /**
   * Inserts the pending insertions into the table, in their order.
   *
   * @return whether there was room for all
   */
  boolean insertPending(PathSearch search) {
    return true;
  }

  /** Removes one copy of the identity, the oldest, or returns false. */
  abstract boolean remove(long identity);
}
