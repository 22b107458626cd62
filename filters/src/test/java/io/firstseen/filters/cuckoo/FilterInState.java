package io.firstseen.filters.cuckoo;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A filter whose pages are bytes under their numbers, read for every operation and written after
 * it, as a state backend that keeps no objects has them.
 */
final class FilterInState implements GrowingFilter, PageStore {
  private final CuckooShape shape;
  private final PagedFilter operations;
  private PageTable<byte[]> pages;
  private long count;

  FilterInState(int identityBits) {
    this.shape = new CuckooShape(identityBits);
    this.operations = new PagedFilter(shape);
    this.pages = new PageTable<>(shape, PageDirectory.first());
  }

  @Override
  public CuckooPage get(long identity) {
    byte[] bytes = pages.get(identity);
    return bytes == null ? CuckooPage.first(shape, null) : page(bytes);
  }

  private static CuckooPage page(byte[] bytes) {
    try {
      return CuckooFormat.readPage(new DataInputStream(new ByteArrayInputStream(bytes)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void put(long identity, CuckooPage page) {
    pages.set(identity, bytes(page));
  }

  static byte[] bytes(CuckooPage page) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      CuckooFormat.writePage(page, new DataOutputStream(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    pages.split(identity, bytes(low), bytes(high));
  }

  @Override
  public void merge(long identity, CuckooPage merged) {
    pages.merge(identity, bytes(merged));
  }

  @Override
  public InsertionResult insert(long hash) {
    return counted(operations.insert(this, hash));
  }

  @Override
  public InsertionResult insertIfAbsent(long hash) {
    return counted(operations.insertIfAbsent(this, hash));
  }

  private InsertionResult counted(InsertionResult insertion) {
    count += insertion == InsertionResult.STORED ? 1 : 0;
    return insertion;
  }

  @Override
  public boolean mightContain(long hash) {
    return operations.mightContain(this, hash);
  }

  @Override
  public boolean delete(long hash) {
    boolean deleted = operations.delete(this, hash);
    count -= deleted ? 1 : 0;
    return deleted;
  }

  @Override
  public long count() {
    return count;
  }

  @Override
  public long slots() {
    return onTheHeap().slots();
  }

  @Override
  public double predictedFalsePositiveRate() {
    return shape.predictedFalsePositiveRate(count);
  }

  @Override
  public GrowingFilter copy() {
    FilterInState copy = new FilterInState(shape.identityBits());
    copy.pages = new PageTable<>(shape, PageDirectory.of(pages.directory().toBytes()));
    pages.forEach(bytes -> copy.pages.set(page(bytes).firstIdentity(), bytes));
    copy.count = count;
    return copy;
  }

  @Override
  public byte[] toBytes() {
    return onTheHeap().toBytes();
  }

  @Override
  public GrowingFilter read(byte[] bytes) {
    FilterOnTheHeap read = (FilterOnTheHeap) FilterOnTheHeap.of(shape.identityBits()).read(bytes);
    FilterInState filter = new FilterInState(shape.identityBits());
    filter.pages = new PageTable<>(shape, pages.directory());
    read.filter.forEachPage(page -> filter.pages.set(page.firstIdentity(), bytes(page)));
    filter.count = read.count();
    return filter;
  }

  @Override
  public boolean isAllZero() {
    return onTheHeap().isAllZero();
  }

  private FilterOnTheHeap onTheHeap() {
    List<CuckooPage> all = new ArrayList<>();
    pages.forEach(bytes -> all.add(page(bytes)));
    if (all.isEmpty()) {
      all.add(CuckooPage.first(shape, null));
    }
    if (all.size() != pages.pageCount()) {
      throw new IllegalStateException(pages.pageCount() + " pages wanted, " + all.size());
    }
    return new FilterOnTheHeap(new CuckooFilter(shape, new HeapPages(shape, all)));
  }
}
