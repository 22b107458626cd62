package io.firstseen.filters.cuckoo;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** {@link CuckooFilter}, for the tests. */
final class FilterOnTheHeap implements GrowingFilter {
  final CuckooFilter filter;

  FilterOnTheHeap(CuckooFilter filter) {
    this.filter = filter;
  }

  static FilterOnTheHeap of(int identityBits) {
    return new FilterOnTheHeap(new CuckooFilter(new CuckooShape(identityBits)));
  }

  @Override
  public InsertionResult insert(long hash) {
    return filter.insert(hash);
  }

  @Override
  public InsertionResult insertIfAbsent(long hash) {
    return filter.insertIfAbsent(hash);
  }

  @Override
  public boolean mightContain(long hash) {
    return filter.mightContain(hash);
  }

  @Override
  public boolean delete(long hash) {
    return filter.delete(hash);
  }

  @Override
  public long count() {
    return filter.count();
  }

  @Override
  public long slots() {
    long[] slots = {0};
    filter.forEachPage(page -> slots[0] += page.slots());
    return slots[0];
  }

  @Override
  public double predictedFalsePositiveRate() {
    return filter.predictedFalsePositiveRate();
  }

  @Override
  public GrowingFilter copy() {
    return new FilterOnTheHeap(filter.copy());
  }

  @Override
  public byte[] toBytes() {
    return toBytes(filter);
  }

  static byte[] toBytes(CuckooFilter filter) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      filter.writeTo(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  @Override
  public GrowingFilter read(byte[] bytes) {
    try {
      return new FilterOnTheHeap(CuckooFilter.readFrom(new ByteArrayInputStream(bytes)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean isAllZero() {
    boolean[] zero = {filter.count() == 0};
    filter.forEachPage(
        page -> {
          zero[0] &= page.count() == 0;
          for (byte b : page.body) {
            zero[0] &= b == 0;
          }
        });
    return zero[0];
  }
}
