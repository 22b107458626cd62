package io.firstseen.operators.dedup;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;

/**
 * Chooses which loaded pages stay, up to a number of bytes: a clock that goes round and drops the
 * first page that was not asked for since it last came by (Corbató 1968).
 */
final class PageCache {
  private final long maxBytes;
  private final Counter hits = new SimpleCounter();
  private final Counter misses = new SimpleCounter();
  private final Counter writeBacks = new SimpleCounter();
  private final List<LoadedPage> ring = new ArrayList<>();
  private int hand;
  private long bytes;

  PageCache(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Bytes on the heap of the pages that are loaded. */
  long bytes() {
    return bytes;
  }

  /** Pages asked for that were loaded. */
  Counter hits() {
    return hits;
  }

  /** Pages asked for that were read from state. */
  Counter misses() {
    return misses;
  }

  /** Pages written to state because they were dropped. */
  Counter writeBacks() {
    return writeBacks;
  }

  void register(MetricGroup metrics) {
    metrics.gauge("cachedBytes", this::bytes);
    metrics.counter("cacheHits", hits);
    metrics.counter("cacheMisses", misses);
    metrics.counter("cacheWriteBacks", writeBacks);
  }

  void add(LoadedPage page) {
    page.place = ring.size();
    ring.add(page);
    resize(page);
  }

  void remove(LoadedPage page) {
    LoadedPage last = ring.remove(ring.size() - 1);
    if (last != page) {
      ring.set(page.place, last);
      last.place = page.place;
    }
    bytes -= page.heapBytes;
  }

  /** Takes note of how large a page has become. */
  void resize(LoadedPage page) {
    int heapBytes = page.page.heapBytes();
    bytes += heapBytes - page.heapBytes;
    page.heapBytes = heapBytes;
  }

  /** The page to drop next, or null if there is no need to drop one. */
  LoadedPage victim() {
    if (bytes <= maxBytes || ring.isEmpty()) {
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
