package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.PageDigest;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which loaded pages stay in memory, up to a number of bytes, by the CLOCK algorithm
 * (Corbató 1968): drops the first page that was not used since the clock hand last passed it.
 */
public final class PageCache {
  private final long maxBytes;
  private final Counter hits = new SimpleCounter();
  private final Counter misses = new SimpleCounter();
  private final Counter writeBacks = new SimpleCounter();
  private final List<LoadedPage> ring = new ArrayList<>();
  private int hand;
  private long bytes;
  private long logBytes;
  private long digestBytes;
  private int digestBits;

  public PageCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns the heap size of the loaded pages in bytes. */
  public long bytes() {
    return bytes;
  }

  /** Returns the number of events that read no page from state. */
  Counter hits() {
    return hits;
  }

  /** Returns the number of events that read a page from state. */
  Counter misses() {
    return misses;
  }

  /** Returns the number of changed pages that were written to state. */
  public Counter writeBacks() {
    return writeBacks;
  }

  public void register(MetricGroup metrics) {
    metrics.gauge("cachedBytes", this::bytes);
    metrics.counter("cacheHits", hits);
    metrics.counter("cacheMisses", misses);
    metrics.counter("cacheWriteBacks", writeBacks);
  }

  public void add(LoadedPage page) {
    page.place = ring.size();
    ring.add(page);
    resize(page);
  }

  public void remove(LoadedPage page) {
    LoadedPage last = ring.remove(ring.size() - 1);
    if (last != page) {
      ring.set(page.place, last);
      last.place = page.place;
    }
    bytes -= page.heapBytes;
  }

  /** Updates the total by the new size of a page. */
  void resize(LoadedPage page) {
    int heapBytes = page.page.heapBytes();
    bytes += heapBytes - page.heapBytes;
    page.heapBytes = heapBytes;
  }

  void addLog(int more) {
    logBytes += more;
  }

  /** Returns whether the log takes a quarter of the memory. */
  boolean isLogLarge() {
    return logBytes > maxBytes / 4;
  }

  void addDigests(int more) {
    digestBytes += more;
  }

  /**
   * Chooses the size of digests by the task's pages, in memory or not. The more pages do not fit,
   * the more memory their digests have instead of the pages, up to three quarters.
   */
  void setPages(long pages, long pageBytes) {
    double missing = 1 - (double) maxBytes / Math.max(maxBytes, pageBytes);
    double bytes = Math.min(missing, 0.75) * maxBytes / pages - PageDigest.OVERHEAD_BYTES;
    int most = (int) Math.min(PageDigest.MAX_BITS, Byte.SIZE * bytes);
    // In steps of an eighth to a quarter, so that digests rarely become too large.
    digestBits = most < PageDigest.MIN_BITS ? 0 : most & -(Integer.highestOneBit(most) >> 2);
  }

  /** Returns the maximum number of bits of a digest, a multiple of 64; 0 if there are none. */
  int digestBits() {
    return digestBits;
  }

  /** Returns the page to drop next, or null if there is no need to drop one. */
  @Nullable LoadedPage victim() {
    if (bytes + logBytes + digestBytes <= maxBytes || ring.isEmpty()) {
      return null;
    }
    while (true) {
      hand = hand < ring.size() ? hand : 0;
      LoadedPage page = ring.get(hand);
      hand++;
      if (!page.used) {
        return page;
      }
      page.used = false;
    }
  }
}
