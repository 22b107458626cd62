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

/** The pages of one filter, which can be frozen for a reader, written and read back. */
final class ExpiringPages implements PageStore {
  private final CuckooShape shape;
  private final Map<CuckooPage, byte[]> frozen = new HashMap<>();
  private PageTable<CuckooPage> pages;
  private Expiry expiry;
  private int splits;
  private int narrowed;
  private int merged;

  ExpiringPages(CuckooShape shape, Expiry expiry) {
    this.shape = shape;
    this.expiry = expiry;
    this.pages = new PageTable<>(shape, PageDirectory.first());
    pages.set(0, CuckooPage.first(shape, expiry));
  }

  @Override
  public Expiry expiry() {
    return expiry;
  }

  void turnTo(Expiry another) {
    expiry = another;
  }

  @Override
  public CuckooPage get(long identity) {
    return pages.get(identity);
  }

  @Override
  public void put(long identity, CuckooPage page) {
    CuckooPage before = pages.get(identity);
    pages.set(identity, page);
    narrowed += before.slots() > page.slots() && page instanceof BucketPage ? 1 : 0;
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    pages.split(identity, low, high);
    splits++;
  }

  @Override
  public void merge(long identity, CuckooPage page) {
    pages.merge(identity, page);
    merged++;
  }

  List<CuckooPage> all() {
    List<CuckooPage> all = new ArrayList<>();
    pages.forEach(all::add);
    return all;
  }

  /** Returns the number of keys held, including expired keys. */
  long count() {
    return all().stream().mapToLong(CuckooPage::count).sum();
  }

  int splits() {
    return splits;
  }

  int narrowed() {
    return narrowed;
  }

  int merged() {
    return merged;
  }

  void verify() {
    try {
      for (CuckooPage page : all()) {
        page.verify();
      }
    } catch (MalformedFilterException e) {
      throw new AssertionError(e);
    }
  }

  /** Freezes the pages for a reader, and checks that the last one saw no change. */
  void freeze(PagedFilter filter) {
    insertPending(filter);
    frozen.forEach(
        (page, bytes) -> {
          if (!Arrays.equals(FilterInState.bytes(page), bytes)) {
            throw new AssertionError("page " + page.id() + " changed while it was frozen");
          }
        });
    pages.forEach(
        page -> {
          frozen.put(page, FilterInState.bytes(page));
          page.setFrozen(true);
        });
  }

  private void insertPending(PagedFilter filter) {
    for (CuckooPage page : all()) {
      if (page.hasPending()) {
        filter.insertPending(this, page);
      }
    }
  }

  void writeAndRead(PagedFilter filter) {
    insertPending(filter);
    frozen.clear();
    List<CuckooPage> all = all();
    pages = new PageTable<>(shape, PageDirectory.of(pages.directory().toBytes()));
    all.forEach(page -> pages.set(page.firstIdentity(), read(FilterInState.bytes(page))));
  }

  static CuckooPage read(byte[] bytes) {
    try {
      return CuckooFormat.readPage(new DataInputStream(new ByteArrayInputStream(bytes)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
