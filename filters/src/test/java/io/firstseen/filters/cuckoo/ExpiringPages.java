package io.firstseen.filters.cuckoo;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The pages of one filter, which can be lent to a reader, written and read back. */
final class ExpiringPages implements PageStore {
  private final CuckooShape shape;
  private final Map<Integer, CuckooPage> pages = new HashMap<>();
  private final Map<CuckooPage, byte[]> lent = new HashMap<>();
  private PageDirectory directory;
  private int splits;
  private int narrowed;

  ExpiringPages(CuckooShape shape, CuckooPage first) {
    this.shape = shape;
    this.directory = PageDirectory.first(shape);
    pages.put(1, first);
  }

  @Override
  public CuckooPage get(long identity) {
    return pages.get(directory.idOf(identity));
  }

  @Override
  public void put(long identity, CuckooPage page) {
    CuckooPage before = pages.put(directory.idOf(identity), page);
    narrowed += before.slots() > page.slots() && page instanceof BucketPage ? 1 : 0;
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    pages.remove(directory.idOf(identity));
    pages.put(low.id(), low);
    pages.put(high.id(), high);
    directory = directory.split(identity);
    splits++;
  }

  List<CuckooPage> all() {
    return new ArrayList<>(pages.values());
  }

  /** Number of keys held, whether their time is up or not. */
  long count() {
    return pages.values().stream().mapToLong(CuckooPage::count).sum();
  }

  int splits() {
    return splits;
  }

  int narrowed() {
    return narrowed;
  }

  void verify() {
    try {
      for (CuckooPage page : pages.values()) {
        page.verify();
      }
    } catch (MalformedFilterException e) {
      throw new AssertionError(e);
    }
  }

  /** Lets a reader have the pages as they are, and checks that the last one saw no change. */
  void lend(PagedFilter filter) {
    settle(filter);
    lent.forEach(
        (page, bytes) -> {
          if (!Arrays.equals(FilterInState.bytes(page), bytes)) {
            throw new AssertionError("page " + page.id() + " changed while it was lent");
          }
        });
    pages.forEach(
        (id, page) -> {
          lent.put(page, FilterInState.bytes(page));
          page.setLent(true);
        });
  }

  private void settle(PagedFilter filter) {
    for (CuckooPage page : all()) {
      if (page.waits()) {
        filter.settle(this, page);
      }
    }
  }

  void writeAndRead(PagedFilter filter) {
    settle(filter);
    lent.clear();
    pages.replaceAll((id, page) -> read(FilterInState.bytes(page)));
    directory = PageDirectory.of(shape, directory.toBytes());
  }

  static CuckooPage read(byte[] bytes) {
    try {
      return CuckooFormat.readPage(new DataInputStream(new ByteArrayInputStream(bytes)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
