package io.firstseen.benchmarks.cuckoo;

import io.firstseen.filters.cuckoo.CuckooFilter;

/** A filter that starts small, grows without the keys, and deletes. */
interface GrowingFilter {
  void insert(long key);

  boolean mightContain(long key);

  /** Deletes a key that was inserted. */
  boolean delete(long key);

  long count();

  double bitsPerKey();

  /** The shipped filter. */
  static GrowingFilter shipped(long keys, double rate) {
    CuckooFilter filter = CuckooFilter.forCapacity(keys, rate);
    return new GrowingFilter() {
      @Override
      public void insert(long key) {
        filter.insert(Peer.mix(key));
      }

      @Override
      public boolean mightContain(long key) {
        return filter.mightContain(Peer.mix(key));
      }

      @Override
      public boolean delete(long key) {
        return filter.delete(Peer.mix(key));
      }

      @Override
      public long count() {
        return filter.count();
      }

      @Override
      public double bitsPerKey() {
        return 8.0 * filter.sizeBytes() / filter.count();
      }
    };
  }

  /** The spike of sorted pages. */
  static GrowingFilter sortedPages(long keys, double rate, int mostBuckets) {
    QuotientPages filter =
        new QuotientPages(QuotientPages.Shape.forCapacity(keys, rate, mostBuckets));
    return new GrowingFilter() {
      @Override
      public void insert(long key) {
        filter.insert(Peer.mix(key));
      }

      @Override
      public boolean mightContain(long key) {
        return filter.mightContain(Peer.mix(key));
      }

      @Override
      public boolean delete(long key) {
        return filter.delete(Peer.mix(key));
      }

      @Override
      public long count() {
        return filter.count();
      }

      @Override
      public double bitsPerKey() {
        return 8.0 * filter.sizeBytes() / filter.count();
      }
    };
  }
}
