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
  private Expiry expiry;

  /** The operations of a filter that keeps its keys until they are deleted. */
  public PagedFilter(CuckooShape shape) {
    this(shape, null);
  }

  /**
   * The operations of a filter whose keys expire.
   *
   * @param expiry says when, at every operation; null if keys do not expire
   */
  public PagedFilter(CuckooShape shape, Expiry expiry) {
    this.shape = shape;
    this.expiry = expiry;
  }

  /** Turns to a filter with another clock; not to one whose keys do not expire, nor from one. */
  public void turnTo(Expiry newExpiry) {
    expiry = newExpiry;
  }

  /** The only page of an empty filter. */
  public CuckooPage firstPage() {
    return expiry == null ? CuckooPage.first(shape) : CuckooPage.firstWithEpochs(shape);
  }

  /** Whether the key may have been inserted: true for every key that was and is not deleted. */
  public boolean mightContain(PageStore store, long hash) {
    long identity = shape.identity(hash);
    return page(store, identity).contains(identity);
  }

  /**
   * Inserts a key, whether or not the filter holds its identity already. Never fails, never stops:
   * a full page widens or splits. Where there are as many copies as are ever stored, the oldest is
   * renewed if keys expire: the identity lives as long as any of its keys.
   */
  public Insertion insert(PageStore store, long hash) {
    long identity = shape.identity(hash);
    CuckooPage page = page(store, identity);
    if (page.contains(identity) && page.copies(identity) >= CuckooPage.MAX_COPIES) {
      renew(store, page, identity);
      return Insertion.SATURATED;
    }
    return insert(store, page, identity);
  }

  /**
   * Inserts a key unless the filter holds its identity: {@code STORED} or {@code PRESENT}. The
   * latter renews the key if it is to expire some time after it was last seen.
   */
  public Insertion insertIfAbsent(PageStore store, long hash) {
    long identity = shape.identity(hash);
    CuckooPage page = page(store, identity);
    if (!page.contains(identity)) {
      return insert(store, page, identity);
    }
    // Where no key of the page is older than it would become, there is nothing to look for.
    if (expiry != null && expiry.sinceLastSeen() && page.epochs.oldest < expiry.endMillis()) {
      renew(store, page, identity);
    }
    return Insertion.PRESENT;
  }

  private void renew(PageStore store, CuckooPage page, long identity) {
    CuckooPage renewed = expiry == null ? null : page.renew(identity, expiry);
    if (renewed != null) {
      store.put(identity, renewed);
    }
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
    CuckooPage page = page(store, identity);
    if (page.isLent() && !page.contains(identity)) {
      return false;
    }
    CuckooPage target = free(page);
    if (target.waits()) {
      target = settle(store, target, identity);
    }
    if (!target.remove(identity)) {
      return false;
    }
    store.put(identity, target);
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
    return page(store, identity).copies(identity) < CuckooPage.MAX_COPIES && delete(store, hash);
  }

  /**
   * Forgets the keys of a page whose time is up; every operation on the page would, too.
   *
   * @return whether there were any epochs to forget
   */
  public boolean expire(PageStore store, CuckooPage page) {
    long identity = shape.firstIdentity(page.prefix(), page.depth());
    return expired(store, page, identity) != null;
  }

  /** The page of an identity, without keys whose time is up. */
  private CuckooPage page(PageStore store, long identity) {
    CuckooPage page = store.get(identity);
    if (expiry == null) {
      return page;
    }
    CuckooPage left = expired(store, page, identity);
    return left == null ? page : left;
  }

  /** Null if there is nothing to forget. */
  private CuckooPage expired(PageStore store, CuckooPage page, long identity) {
    if (!expiry.isDue(page.epochs.oldest)) {
      return null;
    }
    int before = page.count();
    CuckooPage left = free(page).expire(expiry, search);
    expiry.countExpired(before - left.count());
    store.put(identity, left);
    return left;
  }

  /**
   * Puts all insertions that wait beside a lent page in their place; see {@link
   * CuckooPage#setLent}.
   */
  public void settle(PageStore store, CuckooPage page) {
    settle(store, page, shape.firstIdentity(page.prefix(), page.depth()));
  }

  /** Returns the page that an identity belongs to afterwards. */
  private CuckooPage settle(PageStore store, CuckooPage page, long identity) {
    CuckooPage target = free(page);
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
    CuckooPage target = page.isLent() && !page.canAwait(expiry) ? page.unlent() : page;
    int number = expiry == null ? 0 : target.number(expiry);
    while (!target.insert(identity, number, search)) {
      target = grown(store, target, identity);
    }
    store.put(identity, target);
    return Insertion.STORED;
  }

  /** A page that may be changed now. */
  private static CuckooPage free(CuckooPage page) {
    return page.isLent() ? page.unlent() : page;
  }

  private CuckooPage grown(PageStore store, CuckooPage page, long identity) {
    if (page instanceof IdentityListPage list) {
      return list.toBuckets(search);
    }
    BucketPage buckets = (BucketPage) page;
    if (buckets.width() < BucketPage.SPLIT_WIDTH || !shape.canSplit(buckets.depth())) {
      return buckets.widened();
    }
    BucketPage[] halves = buckets.halves(search);
    store.split(identity, halves[0], halves[1]);
    return halves[shape.prefix(identity, buckets.depth() + 1) & 1];
  }
}
