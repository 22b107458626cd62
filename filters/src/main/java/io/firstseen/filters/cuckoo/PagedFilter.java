package io.firstseen.filters.cuckoo;

/**
 * The operations of a cuckoo filter over pages, wherever these live.
 *
 * <p>Each operation touches one page; only an insertion that splits a page makes two of it. Holds
 * scratch space, so one object serves one thread; it may serve many filters of one shape.
 */
public final class PagedFilter {
  private final CuckooShape shape;
  private final PathSearch search = new PathSearch();

  public PagedFilter(CuckooShape shape) {
    this.shape = shape;
  }

  /** Whether the key may have been inserted: true for every key that was and is not deleted. */
  public boolean mightContain(PageStore store, long hash) {
    long identity = shape.identity(hash);
    return store.get(identity).contains(identity);
  }

  /**
   * Inserts a key, whether or not the filter holds its identity already. Never fails, never stops:
   * a full page widens or splits.
   */
  public Insertion insert(PageStore store, long hash) {
    long identity = shape.identity(hash);
    CuckooPage page = store.get(identity);
    if (page.contains(identity) && page.copies(identity) >= CuckooPage.MAX_COPIES) {
      return Insertion.SATURATED;
    }
    return insert(store, page, identity);
  }

  /** Inserts a key unless the filter holds its identity: {@code STORED} or {@code PRESENT}. */
  public Insertion insertIfAbsent(PageStore store, long hash) {
    long identity = shape.identity(hash);
    CuckooPage page = store.get(identity);
    return page.contains(identity) ? Insertion.PRESENT : insert(store, page, identity);
  }

  /**
   * Deletes one copy of a key's identity.
   *
   * <p>Only a key that was admitted may be deleted: a key that never was, but shares its identity
   * with one that was, takes that one's place in the filter.
   *
   * @return whether there was one
   */
  public boolean delete(PageStore store, long hash) {
    long identity = shape.identity(hash);
    CuckooPage page = store.get(identity);
    if (page.waits()) {
      page = settle(store, page, identity);
    }
    if (!page.remove(identity)) {
      return false;
    }
    store.put(identity, page);
    return true;
  }

  /**
   * Deletes one copy of the identity of a key that was inserted, for callers that insert every key
   * and not only those whose identity is new. Where there are as many copies as are ever stored, it
   * may be that keys beyond them were not, so all copies stay for good: the identity goes on to be
   * found, and no key is lost.
   *
   * @return whether a copy was deleted
   */
  public boolean deleteUnlessSaturated(PageStore store, long hash) {
    long identity = shape.identity(hash);
    return store.get(identity).copies(identity) < CuckooPage.MAX_COPIES && delete(store, hash);
  }

  /**
   * Puts all insertions that wait beside a lent page in their place; see {@link CuckooPage#lend}.
   */
  public void settle(PageStore store, CuckooPage page) {
    settle(store, page, shape.firstIdentity(page.prefix(), page.depth()));
  }

  /** Returns the page that an identity belongs to afterwards. */
  private CuckooPage settle(PageStore store, CuckooPage page, long identity) {
    CuckooPage target = page;
    while (!target.settle(search)) {
      int depth = target.depth();
      target = grown(store, target, identity);
      if (target.depth() > depth) {
        settle(store, store.get(shape.sibling(identity, target.depth())));
      }
    }
    store.put(identity, target);
    return target;
  }

  private Insertion insert(PageStore store, CuckooPage page, long identity) {
    CuckooPage target = page;
    while (!target.insert(identity, search)) {
      target = grown(store, target, identity);
    }
    store.put(identity, target);
    return Insertion.STORED;
  }

  private CuckooPage grown(PageStore store, CuckooPage page, long identity) {
    if (page instanceof IdentityListPage list) {
      return list.toBuckets(search);
    }
    BucketPage buckets = (BucketPage) page;
    if (buckets.width() < BucketPage.SPLIT_WIDTH || !shape.canSplit(buckets.depth())) {
      return buckets.widened();
    }
    BucketPage low = buckets.half(0, search);
    BucketPage high = buckets.half(1, search);
    store.split(identity, low, high);
    return (shape.prefix(identity, low.depth()) & 1) == 0 ? low : high;
  }
}
