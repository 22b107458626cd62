package io.firstseen.filters.cuckoo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A filter whose pages are repeatedly frozen for a slow reader, which sometimes reports that it has
 * finished and sometimes does not, as the heap backend's checkpoints do.
 */
final class FilterWithFrozenPages implements GrowingFilter, PageStore {
  private static final int OPERATIONS_A_READ = 700;

  private final CuckooShape shape;
  private final PagedFilter operations;
  private final Map<CuckooPage, byte[]> frozen = new HashMap<>();
  private PageTable<CuckooPage> pages;
  private boolean readEnded;
  private int sinceRead;
  private int reads;
  private final AtomicInteger pending;

  /**
   * @param pending counts insertions that became pending
   */
  FilterWithFrozenPages(int identityBits, AtomicInteger pending) {
    this.pending = pending;
    this.shape = new CuckooShape(identityBits);
    this.operations = new PagedFilter(shape);
    this.pages = new PageTable<>(shape, PageDirectory.first());
    pages.set(0, CuckooPage.first(shape, null));
  }

  @Override
  public CuckooPage get(long identity) {
    CuckooPage page = pages.get(identity);
    page.setFrozen(!readEnded && frozen.containsKey(page));
    return page;
  }

  @Override
  public void put(long identity, CuckooPage page) {
    pages.set(identity, page);
    pending.addAndGet(page.hasPending() ? 1 : 0);
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    pages.split(identity, low, high);
  }

  @Override
  public void merge(long identity, CuckooPage merged) {
    pages.merge(identity, merged);
  }

  private List<CuckooPage> all() {
    List<CuckooPage> all = new ArrayList<>();
    pages.forEach(all::add);
    return all;
  }

  private void insertPending() {
    for (CuckooPage page : all()) {
      page.setFrozen(!readEnded && frozen.containsKey(page));
      if (page.hasPending()) {
        operations.insertPending(this, page);
      }
    }
  }

  /** Ends a read, checks that the reader saw no change, and begins another. */
  private void freeze() {
    insertPending();
    if (!readEnded) {
      frozen.forEach(
          (page, bytes) -> {
            if (!Arrays.equals(FilterInState.bytes(page), bytes)) {
              throw new AssertionError("page " + page.id() + " changed while it was frozen");
            }
          });
    }
    frozen.clear();
    readEnded = false;
    pages.forEach(page -> frozen.put(page, FilterInState.bytes(page)));
    reads++;
  }

  private void next() {
    sinceRead++;
    if (sinceRead == OPERATIONS_A_READ) {
      sinceRead = 0;
      freeze();
    } else if (sinceRead == OPERATIONS_A_READ / 2 && reads % 2 == 0) {
      readEnded = true;
    }
  }

  @Override
  public InsertionResult insert(long hash) {
    next();
    return operations.insert(this, hash);
  }

  @Override
  public InsertionResult insertIfAbsent(long hash) {
    next();
    return operations.insertIfAbsent(this, hash);
  }

  @Override
  public boolean mightContain(long hash) {
    return operations.mightContain(this, hash);
  }

  @Override
  public boolean delete(long hash) {
    next();
    return operations.delete(this, hash);
  }

  @Override
  public long count() {
    return all().stream().mapToLong(CuckooPage::count).sum();
  }

  @Override
  public long slots() {
    return all().stream().mapToLong(CuckooPage::slots).sum();
  }

  @Override
  public double predictedFalsePositiveRate() {
    return shape.predictedFalsePositiveRate(count());
  }

  @Override
  public GrowingFilter copy() {
    return read(toBytes());
  }

  @Override
  public byte[] toBytes() {
    return onTheHeap().toBytes();
  }

  @Override
  public GrowingFilter read(byte[] bytes) {
    FilterWithFrozenPages filter = new FilterWithFrozenPages(shape.identityBits(), pending);
    filter.pages = new PageTable<>(shape, pages.directory());
    ((FilterOnTheHeap) onTheHeap().read(bytes))
        .filter.forEachPage(page -> filter.pages.set(page.firstIdentity(), page));
    return filter;
  }

  @Override
  public boolean isAllZero() {
    return onTheHeap().isAllZero();
  }

  private FilterOnTheHeap onTheHeap() {
    insertPending();
    return new FilterOnTheHeap(new CuckooFilter(shape, new HeapPages(shape, all())));
  }
}
