package io.firstseen.cli.size;

import io.firstseen.filters.cuckoo.CuckooFormat;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.HeapPages;
import io.firstseen.filters.cuckoo.PagedFilter;
import java.io.DataOutputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.util.function.ThrowingConsumer;

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

  /** Sizing tries several numbers of shards, whose subtrees often have the same shape. */
  private static final Map<List<?>, FilterSample> MEASURED = new ConcurrentHashMap<>();

  /** Measures a filter of at least one key per shard; small filters are measured repeatedly. */
  static FilterSample of(int identityBits, long keysOfShard, int shards, boolean expiring) {
    int halvings = 0;
    while (keysOfShard >> halvings > MAX_KEYS
        && identityBits - halvings > CuckooShape.MIN_IDENTITY_BITS) {
      halvings++;
    }
    CuckooShape shape = new CuckooShape(identityBits - halvings);
    long keys = Math.round(Math.scalb((double) keysOfShard, -halvings));
    long filters = Math.min(shards, Math.max(1, MAX_KEYS / keys));
    return MEASURED.computeIfAbsent(
        List.of(shape.identityBits(), keys, filters, expiring),
        unused -> measure(shape, keys, filters, expiring));
  }

  private static FilterSample measure(
      CuckooShape shape, long keys, long filters, boolean expiring) {
    SplittableRandom hashes = new SplittableRandom(SEED);
    DataOutputStream out = new DataOutputStream(OutputStream.nullOutputStream());
    long[] heapBytes = {0};
    long[] pageCount = {0};
    for (long i = 0; i < filters; i++) {
      Expiry expiry = expiring ? new Expiry(TTL_MILLIS, /* sinceLastSeen= */ false) : null;
      HeapPages pages = new HeapPages(shape, expiry);
      PagedFilter filter = new PagedFilter(shape);
      for (long key = 0; key < keys; key++) {
        if (expiry != null) {
          // Spread the keys evenly over a TTL.
          expiry.advanceTo((long) ((double) key / keys * TTL_MILLIS));
        }
        filter.insert(pages, hashes.nextLong());
      }
      pages.forEach(
          ThrowingConsumer.unchecked(
              page -> {
                heapBytes[0] += page.heapBytes();
                pageCount[0]++;
                CuckooFormat.writePage(page, out);
              }));
    }
    double stored = (double) keys * filters;
    return new FilterSample(heapBytes[0] / stored, out.size() / stored, pageCount[0] / stored);
  }

  /** Returns the figures per key if each key has several identities. */
  FilterSample times(int identities) {
    return new FilterSample(heapBytes * identities, pageBytes * identities, pages * identities);
  }
}
