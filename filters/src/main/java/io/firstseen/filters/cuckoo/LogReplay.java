package io.firstseen.filters.cuckoo;

import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Repeats the changes of a page from a log, in their order. The result is, byte for byte, the page
 * after these changes, or the pages into which it was split.
 *
 * <p>If all changes are insertions that do not make the page wider, they stay pending: adding them
 * to the table takes much longer than reading the page.
 */
public final class LogReplay {
  private final PagedFilter filter;

  /** The page while there is only one; null after a split. */
  private @Nullable CuckooPage only;

  /** The pages after a split, by their first identities. */
  private @Nullable TreeMap<Long, CuckooPage> pages;

  private final @Nullable Expiry expiry;
  private final Pages store = new Pages();
  private final long first;
  private final long last;
  private final int needed;
  private int changes;

  /** Whether all changes so far are pending insertions. */
  private boolean deferring;

  /** As {@link #LogReplay(PagedFilter, CuckooPage, int)}, for all pages. */
  public LogReplay(PagedFilter filter, CuckooPage page) {
    this(filter, page, page.id());
  }

  /**
   * @param page changed in place
   * @param needed the number of {@code page} or of a part of it: if the changes split the page,
   *     only the pages with identities of this part are needed
   */
  public LogReplay(PagedFilter filter, CuckooPage page, int needed) {
    this.filter = filter;
    this.needed = needed;
    this.expiry = page.hasEpochs() ? new Expiry(Expiry.MIN_TTL_MILLIS, false) : null;
    this.first = page.firstIdentity();
    this.last = first + (1L << (page.shape.identityBits() - page.depth)) - 1;
    this.only = page;
    this.deferring = page.canDefer() && !filter.hasTextTags();
  }

  /** Repeats the changes that a segment has of the page. */
  public void repeat(LogSegment segment) {
    segment.repeat(first, last, this);
  }

  /** As {@link #repeat(LogSegment)}. */
  public void repeat(LogSegments segments) {
    segments.repeat(first, last, this);
  }

  /** As {@link #repeat(LogSegment)}. */
  public void repeat(OpenSegment segment) {
    segment.repeat(first, last, this);
  }

  void setInstants(long[] instants, int at) {
    if (expiry != null) {
      expiry.setTo(instants[at], instants[at + 1], instants[at + 2]);
    }
  }

  void repeat(PageChange change, long identity) {
    if (pages != null && !store.keeps(store.get(identity).id())) {
      return;
    }
    changes++;
    if (deferring) {
      if (change == PageChange.INSERTION && only.canDefer()) {
        ((BucketPage) only).defer(identity);
        return;
      }
      deferring = false;
      filter.insertPending(store, only);
    }
    filter.repeat(store, change, identity);
  }

  /**
   * Returns the page, frozen so that further insertions also stay pending; null if a change was not
   * an insertion that may stay pending.
   */
  public @Nullable CuckooPage frozenPage() {
    if (!deferring) {
      return null;
    }
    only.setFrozen(true);
    return only;
  }

  /** Returns the number of changes. */
  public int changes() {
    return changes;
  }

  /** Returns the needed pages without pending insertions, in the order of their prefixes. */
  public List<CuckooPage> pages() {
    if (deferring) {
      deferring = false;
      filter.insertPending(store, only);
    }
    return only == null
        ? pages.values().stream().filter(page -> store.keeps(page.id())).toList()
        : List.of(only);
  }

  private final class Pages implements PageStore {
    @Override
    public @Nullable Expiry expiry() {
      return expiry;
    }

    @Override
    public CuckooPage get(long identity) {
      return only != null ? only : pages.floorEntry(identity).getValue();
    }

    @Override
    public void put(long identity, CuckooPage page) {
      if (pages == null) {
        only = page;
      } else {
        pages.put(page.firstIdentity(), page);
      }
    }

    /** Keeps the pages that contain the needed one, or are parts of it. */
    @Override
    public boolean keeps(int id) {
      int deeper = Integer.numberOfLeadingZeros(needed) - Integer.numberOfLeadingZeros(id);
      return deeper < 0 ? needed >>> -deeper == id : id >>> deeper == needed;
    }

    @Override
    public void split(long identity, CuckooPage low, CuckooPage high) {
      if (pages == null) {
        pages = new TreeMap<>();
        only = null;
      }
      pages.put(low.firstIdentity(), low);
      pages.put(high.firstIdentity(), high);
    }

    @Override
    public void merge(long identity, CuckooPage merged) {
      throw new UnsupportedOperationException("a log does not contain merged pages");
    }
  }
}
