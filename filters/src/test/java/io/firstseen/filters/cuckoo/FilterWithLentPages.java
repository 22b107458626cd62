package io.firstseen.filters.cuckoo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A filter whose pages are lent to a reader again and again, who takes a while, and sometimes says
 * that it is done and sometimes does not, as the heap backend's checkpoints do.
 */
final class FilterWithLentPages implements GrowingFilter, PageStore {
  private static final int OPERATIONS_A_LOAN = 700;

  private final CuckooShape shape;
  private final PagedFilter operations;
  private final Map<Integer, CuckooPage> pages = new HashMap<>();
  private final Map<CuckooPage, byte[]> lent = new HashMap<>();
  private PageDirectory directory;
  private boolean loanEnded;
  private int sinceLoan;
  private int loans;
  private final AtomicInteger waited;

  /**
   * @param waited counts insertions that had to wait
   */
  FilterWithLentPages(int identityBits, AtomicInteger waited) {
    this.waited = waited;
    this.shape = new CuckooShape(identityBits);
    this.operations = new PagedFilter(shape);
    this.directory = PageDirectory.first(shape);
    pages.put(1, CuckooPage.first(shape));
  }

  @Override
  public CuckooPage get(long identity) {
    CuckooPage page = pages.get(directory.idOf(identity));
    page.setLent(!loanEnded && lent.containsKey(page));
    return page;
  }

  @Override
  public void put(long identity, CuckooPage page) {
    pages.put(directory.idOf(identity), page);
    waited.addAndGet(page.waits() ? 1 : 0);
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    pages.remove(directory.idOf(identity));
    pages.put(low.id(), low);
    pages.put(high.id(), high);
    directory = directory.split(identity);
  }

  private void settle() {
    for (CuckooPage page : List.copyOf(pages.values())) {
      page.setLent(!loanEnded && lent.containsKey(page));
      if (page.waits()) {
        operations.settle(this, page);
      }
    }
  }

  /** Ends a loan, checks that the reader saw no change, and begins another. */
  private void lend() {
    settle();
    if (!loanEnded) {
      lent.forEach(
          (page, bytes) -> {
            if (!Arrays.equals(FilterInState.bytes(page), bytes)) {
              throw new AssertionError("page " + page.id() + " changed while it was lent");
            }
          });
    }
    lent.clear();
    loanEnded = false;
    pages.forEach((id, page) -> lent.put(page, FilterInState.bytes(page)));
    loans++;
  }

  private void next() {
    sinceLoan++;
    if (sinceLoan == OPERATIONS_A_LOAN) {
      sinceLoan = 0;
      lend();
    } else if (sinceLoan == OPERATIONS_A_LOAN / 2 && loans % 2 == 0) {
      loanEnded = true;
    }
  }

  @Override
  public Insertion insert(long hash) {
    next();
    return operations.insert(this, hash);
  }

  @Override
  public Insertion insertIfAbsent(long hash) {
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
    return pages.values().stream().mapToLong(CuckooPage::count).sum();
  }

  @Override
  public long slots() {
    return pages.values().stream().mapToLong(CuckooPage::slots).sum();
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
    FilterWithLentPages filter = new FilterWithLentPages(shape.identityBits(), waited);
    ((FilterOnTheHeap) onTheHeap().read(bytes))
        .filter.forEachPage(page -> filter.pages.put(page.id(), page));
    filter.pages.keySet().retainAll(pages.keySet());
    filter.directory = directory;
    return filter;
  }

  @Override
  public boolean isAllZero() {
    return onTheHeap().isAllZero();
  }

  private FilterOnTheHeap onTheHeap() {
    settle();
    return new FilterOnTheHeap(
        new CuckooFilter(shape, new HeapPages(shape, new ArrayList<>(pages.values()))));
  }
}
