package io.firstseen.filters.cuckoo;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a cuckoo filter over the pages of any store.
 *
 * <p>Each operation changes one page. An insertion may split it into two, and a page that has lost
 * keys becomes narrower, is merged with its sibling, or becomes a list again. Holds scratch space,
 * so an object must be used by one thread; it may serve many filters of one shape.
 */
public final class PagedFilter {
  private static final int DELETIONS_PER_SHRINK = 16;

  private final CuckooShape shape;
  private final int textTagBits;
  private final PathSearch search = new PathSearch();

  /** The operations of filters of a shape. */
  public PagedFilter(CuckooShape shape) {
    this(shape, 0);
  }

  /**
   * The operations of filters whose identities contain a text tag: {@code textTagBits} bits above
   * the core, by which {@link #textTags} finds all keys that differ only in their tags. No page
   * splits by these bits, so these keys have one page.
   */
  public PagedFilter(CuckooShape shape, int textTagBits) {
    this.shape = shape;
    this.textTagBits = textTagBits;
  }

  /**
   * Returns whether many identities may differ only in their text tags. These share two buckets, so
   * a page may have to become wider early.
   */
  public boolean hasTextTags() {
    return textTagBits > 0;
  }

  /** Returns the shape of the filters. */
  public CuckooShape shape() {
    return shape;
  }

  /**
   * Returns whether the key may be in the filter: true for every key that was inserted, and neither
   * deleted nor expired.
   */
  public boolean mightContain(PageStore store, long hash) {
    long identity = shape.identity(hash);
    return !store.lacks(identity) && page(store, identity).contains(identity);
  }

  /** Returns the hash of a key whose identity has the text tag {@code tag}. */
  public long withTextTag(long hash, int tag) {
    int shift = Long.SIZE - shape.identityBits() + CuckooShape.TEXT_TAG_SHIFT;
    long mask = (1L << textTagBits) - 1;
    return (hash & ~(mask << shift)) | ((tag & mask) << shift);
  }

  /** Reports the text tags of all keys whose identities equal a key's except for the text tag. */
  public void textTags(PageStore store, long hash, IntConsumer found) {
    long identity = shape.identity(hash);
    page(store, identity).textTags(identity, textTagBits, found);
  }

  /**
   * Inserts a key, whether or not the filter already holds its identity. Never fails: a full page
   * widens or splits. A filter stores only a few copies of an identity. If it has that many and
   * keys expire, the oldest copy is renewed, so that the identity stays as long as any of its keys.
   */
  public InsertionResult insert(PageStore store, long hash) {
    long identity = shape.identity(hash);
    if (store.insertAbsent(identity)) {
      return InsertionResult.STORED;
    }
    CuckooPage page = page(store, identity);
    int room = insertInPlace(store, page, identity);
    if (room >= 0) {
      return InsertionResult.STORED;
    }
    if (room != BucketLayout.FULL
        && page.contains(identity)
        && page.copies(identity) >= CuckooPage.MAX_COPIES) {
      renew(store, page, identity);
      return InsertionResult.SATURATED;
    }
    return insert(store, page, identity);
  }

  /**
   * Inserts a key unless the filter holds its identity: {@code STORED} or {@code PRESENT}. {@code
   * PRESENT} renews the key if expiry is measured from when it was last seen.
   */
  public InsertionResult insertIfAbsent(PageStore store, long hash) {
    long identity = shape.identity(hash);
    if (store.insertAbsent(identity)) {
      return InsertionResult.STORED;
    }
    CuckooPage page = page(store, identity);
    int room = insertInPlace(store, page, identity);
    if (room >= 0) {
      return InsertionResult.STORED;
    }
    if (room == BucketLayout.HELD) {
      return InsertionResult.PRESENT;
    }
    if (room == BucketLayout.FULL || !page.contains(identity)) {
      return insert(store, page, identity);
    }
    Expiry expiry = store.expiry();
    // If no key of the page is older than the next keys, there is nothing to renew.
    if (expiry != null && expiry.sinceLastSeen() && page.epochs.oldest < expiry.endMillis()) {
      renew(store, page, identity);
    }
    return InsertionResult.PRESENT;
  }

  /**
   * Inserts a new identity if a slot is free without moves. Produces the same page as {@link
   * CuckooPage#insert}, in fewer steps.
   *
   * @return as {@link BucketLayout#room}; at least 0 if it was inserted
   */
  private int insertInPlace(PageStore store, CuckooPage page, long identity) {
    if (!(page instanceof BucketPage table)) {
      return BucketLayout.UNDECIDED;
    }
    int room = table.roomFor(identity);
    if (room == BucketLayout.FULL) {
      room = table.makeRoom(identity, search);
    }
    if (room >= 0) {
      table.insertAt(room, identity);
      store.put(identity, table, PageChange.INSERTION);
    }
    return room;
  }

  private static void renew(PageStore store, CuckooPage page, long identity) {
    Expiry expiry = store.expiry();
    CuckooPage renewed = expiry == null ? null : page.renew(identity, expiry);
    if (renewed != null) {
      store.put(identity, renewed, PageChange.RENEWAL);
    }
  }

  /**
   * Deletes one copy of a key's identity (fingerprint).
   *
   * <p>Only an inserted key may be deleted. Deleting another key with the same identity removes the
   * inserted one from the filter.
   *
   * @return whether there was one
   */
  public boolean delete(PageStore store, long hash) {
    long identity = shape.identity(hash);
    CuckooPage page = page(store, identity);
    if (page instanceof BucketPage table && table.removeInPlace(identity)) {
      store.put(identity, page, PageChange.REMOVAL);
      shrinkAfterDeletion(store, page, identity);
      return true;
    }
    if (page.isFrozen() && !page.contains(identity)) {
      return false;
    }
    CuckooPage target = writable(page);
    if (target.hasPending()) {
      target = insertPending(store, target, identity);
    }
    if (!target.remove(identity)) {
      return false;
    }
    store.put(identity, target, PageChange.REMOVAL);
    shrinkAfterDeletion(store, target, identity);
    return true;
  }

  /**
   * Deletes one copy of the identity of an inserted key, for callers that insert every key and not
   * only keys with a new identity. If the identity has the most copies that a filter stores,
   * further keys may not have been stored. In this case no copy is ever deleted, so that no key is
   * lost.
   *
   * @return whether a copy was deleted
   */
  public boolean deleteUnlessSaturated(PageStore store, long hash) {
    long identity = shape.identity(hash);
    return page(store, identity).copies(identity) < CuckooPage.MAX_COPIES && delete(store, hash);
  }

  /**
   * Forgets the expired keys of a page, as every operation on the page also does, and returns
   * memory that the page does not need.
   *
   * @return whether an epoch was due
   */
  public boolean expire(PageStore store, CuckooPage page) {
    long identity = page.firstIdentity();
    CuckooPage left = expired(store, page, identity);
    shrink(store, left == null ? page : left, identity);
    return left != null;
  }

  /** Examines a page only after some deletions, because this may read the sibling of the page. */
  private void shrinkAfterDeletion(PageStore store, CuckooPage page, long identity) {
    if (page.count() % DELETIONS_PER_SHRINK == 0) {
      shrink(store, page, identity);
    }
  }

  /** Replaces the page of an identity by smaller ones as long as it has too few keys for it. */
  private void shrink(PageStore store, CuckooPage page, long identity) {
    CuckooPage last = page;
    while (last instanceof BucketPage table && Repacking.isSparse(table)) {
      last = smaller(store, table, identity);
    }
  }

  /** Returns the smaller page that has replaced the page of an identity; null if none has. */
  private @Nullable CuckooPage smaller(PageStore store, BucketPage page, long identity) {
    if (page.hasPending()) {
      insertPending(store, page, identity);
      return store.get(identity);
    }
    if (Repacking.fitsList(page)) {
      CuckooPage list = Repacking.toList(page, search);
      store.put(identity, list);
      return list;
    }
    if (Repacking.mayMerge(page)) {
      CuckooPage other = store.get(shape.sibling(identity, page.depth()));
      if (other instanceof BucketPage sibling && Repacking.fitMerged(page, sibling)) {
        if (sibling.hasPending()) {
          insertPending(store, sibling);
          return page;
        }
        boolean isLow = (page.prefix() & 1) == 0;
        CuckooPage merged =
            Repacking.merged(isLow ? page : sibling, isLow ? sibling : page, search);
        if (merged != null) {
          store.merge(identity, merged);
          return merged;
        }
      }
    }
    CuckooPage narrowed = Repacking.narrowed(page, search);
    if (narrowed == page) {
      return null;
    }
    store.put(identity, narrowed);
    return narrowed;
  }

  /** Returns the page of an identity, without expired keys. */
  private CuckooPage page(PageStore store, long identity) {
    CuckooPage page = store.get(identity);
    CuckooPage left = expired(store, page, identity);
    return left == null ? page : left;
  }

  /** Returns the page without its expired keys; null if no epoch is due. */
  private @Nullable CuckooPage expired(PageStore store, CuckooPage page, long identity) {
    Expiry expiry = store.expiry();
    if (expiry == null || !expiry.isDue(page.epochs.oldest)) {
      return null;
    }
    int before = page.count();
    CuckooPage left = writable(page).expire(expiry, search);
    expiry.countExpired(before - left.count());
    store.put(identity, left, PageChange.EXPIRY);
    return left;
  }

  /** Inserts the pending insertions of a page into it; see {@link CuckooPage#setFrozen}. */
  public void insertPending(PageStore store, CuckooPage page) {
    insertPending(store, page, page.firstIdentity());
  }

  /** Returns the page that an identity belongs to afterwards. */
  private CuckooPage insertPending(PageStore store, CuckooPage page, long identity) {
    CuckooPage target = writable(page);
    while (!target.insertPending(search)) {
      int depth = target.depth();
      target = grown(store, target, identity);
      if (target.depth() > depth) {
        insertPending(store, store.get(shape.sibling(identity, target.depth())));
      }
    }
    store.putInserted(identity, target);
    return target;
  }

  private InsertionResult insert(PageStore store, CuckooPage page, long identity) {
    Expiry expiry = store.expiry();
    CuckooPage target = page.isFrozen() && !page.canAddPending(expiry) ? page.writableCopy() : page;
    int number = expiry == null ? 0 : target.number(expiry);
    while (!target.insert(identity, number, search)) {
      target = grown(store, target, identity);
    }
    store.put(identity, target, PageChange.INSERTION);
    return InsertionResult.STORED;
  }

  /**
   * Repeats a change of a page that has the same bytes as before the change. The page then has the
   * same bytes as after the change.
   *
   * @throws IllegalStateException if the page does not hold the identity of the change
   */
  void repeat(PageStore store, PageChange change, long identity) {
    CuckooPage page = store.get(identity);
    boolean possible =
        switch (change) {
          case INSERTION ->
              insertInPlace(store, page, identity) >= 0
                  || insert(store, page, identity) == InsertionResult.STORED;
          case REMOVAL ->
              (page instanceof BucketPage table && table.removeInPlace(identity))
                  || page.remove(identity);
          case RENEWAL -> page.contains(identity) && page.renew(identity, store.expiry()) != null;
          case EXPIRY -> {
            store.put(identity, page.expire(store.expiry(), search));
            yield true;
          }
        };
    if (!possible) {
      throw new IllegalStateException(
          "the log has a %s that page %d cannot repeat".formatted(change, page.id()));
    }
  }

  private static CuckooPage writable(CuckooPage page) {
    return page.isFrozen() ? page.writableCopy() : page;
  }

  private CuckooPage grown(PageStore store, CuckooPage page, long identity) {
    if (page instanceof IdentityListPage list) {
      return Repacking.toTable(list, search);
    }
    BucketPage table = (BucketPage) page;
    if (table.width() < BucketPage.SPLIT_WIDTH || !shape.canSplit(table.depth(), textTagBits)) {
      return Repacking.widened(table);
    }
    BucketPage[] halves = Repacking.halves(table, store::keeps, search);
    store.split(identity, halves[0], halves[1]);
    return halves[shape.prefix(identity, table.depth() + 1) & 1];
  }
}
