package io.firstseen.cli.size;

import io.firstseen.filters.cuckoo.CuckooFormat;
import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.PageDirectory;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PageTable;
import io.firstseen.filters.cuckoo.PagedFilter;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The bytes per key of a filter, measured on real filters filled with random hashes.
 *
 * <p>A filter of n keys with identities of P bits consists of 2^k subtrees, each of which has the
 * pages of a filter of n / 2^k keys with identities of P - k bits. A large filter is therefore
 * measured on one subtree of at most {@value #MAX_KEYS} keys.
 *
 * @param heapBytes the heap of the pages, per key
 * @param pageBytes the bytes of the pages in state, per key
 * @param pages the number of pages per key
 */
record FilterSample(double heapBytes, double pageBytes, double pages) {
  private static final long MAX_KEYS = 1 << 18;
  private static final long SEED = 20261124;

  /** An arbitrary TTL, whose length does not change the size. */
  private static final long TTL_MILLIS = Expiry.EPOCHS * Expiry.MIN_TTL_MILLIS;

  /**
   * Measures filters.
   *
   * @param identityBits P
   * @param keysOfShard the number of keys of one filter, at least 1
   * @param shards the number of filters; small filters are measured repeatedly
   * @param expiring whether keys expire
   */
  static FilterSample of(int identityBits, long keysOfShard, int shards, boolean expiring) {
    int halvings = 0;
    while (keysOfShard >> halvings > MAX_KEYS
        && identityBits - halvings > CuckooShape.MIN_IDENTITY_BITS) {
      halvings++;
    }
    CuckooShape shape = new CuckooShape(identityBits - halvings);
    long keys = Math.round(Math.scalb((double) keysOfShard, -halvings));
    long filters = Math.min(shards, Math.max(1, MAX_KEYS / keys));
    SplittableRandom hashes = new SplittableRandom(SEED);
    Total total = new Total();
    for (long i = 0; i < filters; i++) {
      new Pages(shape, expiring).fill(keys, hashes).forEach(total::add);
    }
    double stored = (double) keys * filters;
    return new FilterSample(
        total.heapBytes / stored, total.out.size() / stored, total.pages / stored);
  }

  /** Returns the figures per key if each key has several identities. */
  FilterSample times(int identities) {
    return new FilterSample(heapBytes * identities, pageBytes * identities, pages * identities);
  }

  /** The pages of one filter, stored like in the operator. */
  private static final class Pages implements PageStore {
    private final PagedFilter filter;
    private final PageTable<CuckooPage> table;
    private final @Nullable Expiry expiry;

    Pages(CuckooShape shape, boolean expiring) {
      filter = new PagedFilter(shape);
      table = new PageTable<>(shape, PageDirectory.first());
      expiry = expiring ? new Expiry(TTL_MILLIS, /* sinceLastSeen= */ false) : null;
      table.set(0, CuckooPage.first(shape, expiry));
    }

    /** Inserts keys, spread evenly over a TTL if they expire. */
    PageTable<CuckooPage> fill(long keys, SplittableRandom hashes) {
      for (long i = 0; i < keys; i++) {
        if (expiry != null) {
          expiry.advanceTo((long) ((double) i / keys * TTL_MILLIS));
        }
        filter.insert(this, hashes.nextLong());
      }
      return table;
    }

    @Override
    public @Nullable Expiry expiry() {
      return expiry;
    }

    @Override
    public CuckooPage get(long identity) {
      return table.get(identity);
    }

    @Override
    public void put(long identity, CuckooPage page) {
      if (table.get(identity) != page) {
        table.set(identity, page);
      }
    }

    @Override
    public void split(long identity, CuckooPage low, CuckooPage high) {
      table.split(identity, low, high);
    }

    @Override
    public void merge(long identity, CuckooPage merged) {
      table.merge(identity, merged);
    }
  }

  private static final class Total {
    private final DataOutputStream out = new DataOutputStream(OutputStream.nullOutputStream());
    private long heapBytes;
    private long pages;

    void add(CuckooPage page) {
      heapBytes += page.heapBytes();
      pages++;
      try {
        CuckooFormat.writePage(page, out);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
