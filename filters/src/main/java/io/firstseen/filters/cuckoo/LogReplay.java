package io.firstseen.filters.cuckoo;

import java.util.Collection;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Repeats the changes of a page from a log, in their order. The result is, byte for byte, the page
 * after these changes, or the pages into which it was split.
 */
public final class LogReplay {
  private final PagedFilter filter;
  private final TreeMap<Long, CuckooPage> pages = new TreeMap<>();
  private final @Nullable Expiry expiry;
  private final Pages store = new Pages();
  private final long first;
  private final long last;
  private boolean changed;

  /**
   * @param page changed in place
   */
  public LogReplay(PagedFilter filter, CuckooPage page) {
    this.filter = filter;
    this.expiry = page.hasEpochs() ? new Expiry(Expiry.MIN_TTL_MILLIS, false) : null;
    this.first = page.firstIdentity();
    this.last = first + (1L << (page.shape.identityBits() - page.depth)) - 1;
    pages.put(first, page);
  }

  /** Repeats the changes that a segment has of the page. */
  public void repeat(LogSegment segment) {
    segment.repeat(first, last, this);
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
    changed = true;
    filter.repeat(store, change, identity);
  }

  /** Returns whether there were changes. */
  public boolean isChanged() {
    return changed;
  }

  /** Returns the pages, in the order of their prefixes. */
  public Collection<CuckooPage> pages() {
    return pages.values();
  }

  private final class Pages implements PageStore {
    @Override
    public @Nullable Expiry expiry() {
      return expiry;
    }

    @Override
    public CuckooPage get(long identity) {
      return pages.floorEntry(identity).getValue();
    }

    @Override
    public void put(long identity, CuckooPage page) {
      pages.put(page.firstIdentity(), page);
    }

    @Override
    public void split(long identity, CuckooPage low, CuckooPage high) {
      pages.put(low.firstIdentity(), low);
      pages.put(high.firstIdentity(), high);
    }

    @Override
    public void merge(long identity, CuckooPage merged) {
      throw new UnsupportedOperationException("a log does not contain merged pages");
    }
  }
}
