package io.firstseen.benchmarks.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The state accesses of a dedup on pages, with plain bytes as pages. Every record reads a page at
 * two places; a record with its lowest bit set also changes it.
 *
 * <p>The upper half of a record chooses the page.
 */
final class PagesSubject extends AbstractStreamOperator<Long>
    implements OneInputStreamOperator<Long, Long> {
  static final int SHARDS = 128;
  private static final long serialVersionUID = 1;
  private static final int MAX_BUFFERED_OF_PAGE = 1 << 12;

  private final int pageBytes;
  private final int pagesPerShard;
  private final int cachedPages;
  private final int maxBuffered;

  private transient MapState<Integer, byte[]> pages;
  private transient Map<Integer, Page> cache;
  private transient Map<Integer, Buffer> buffers;
  private transient int buffered;
  private transient long pagesWritten;

  private static final class Page {
    final byte[] bytes;
    boolean dirty;

    Page(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  private static final class Buffer {
    int[] identities = new int[8];
    int count;

    void add(int identity) {
      if (count == identities.length) {
        identities = Arrays.copyOf(identities, 2 * count);
      }
      identities[count++] = identity;
    }

    void applyTo(byte[] page) {
      for (int i = 0; i < count; i++) {
        page[(identities[i] & Integer.MAX_VALUE) % page.length]++;
      }
    }
  }

  /**
   * @param maxBuffered the number of identities that may be buffered before they are merged into
   *     their pages; if 0, pages are changed in the cache and written when they are evicted
   */
  PagesSubject(int pageBytes, int pagesPerShard, int cachedPages, int maxBuffered) {
    this.pageBytes = pageBytes;
    this.pagesPerShard = pagesPerShard;
    this.cachedPages = cachedPages;
    this.maxBuffered = maxBuffered;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    pages =
        context
            .getKeyedStateStore()
            .getMapState(
                new MapStateDescriptor<>(
                    "pages", IntSerializer.INSTANCE, BytePrimitiveArraySerializer.INSTANCE));
    cache = new LinkedHashMap<>(2 * cachedPages, 0.75f, true);
    buffers = new HashMap<>();
  }

  static int shardOf(long record) {
    return (int) (record >>> 57);
  }

  private int pageOf(long record) {
    return (int) ((((record >>> 32) & 0x1FFFFFF) * pagesPerShard) >>> 25);
  }

  @Override
  public void processElement(StreamRecord<Long> record) throws Exception {
    long value = record.getValue();
    int number = shardOf(value) * pagesPerShard + pageOf(value);
    Page page = cache.get(number);
    if (page == null) {
      byte[] bytes = pages.get(number);
      page = new Page(bytes == null ? fresh(number) : bytes);
      Buffer buffer = buffers.get(number);
      if (buffer != null) {
        buffer.applyTo(page.bytes);
      }
      cache.put(number, page);
      if (cache.size() > cachedPages) {
        evict();
      }
    }
    int at = ((int) value & Integer.MAX_VALUE) % pageBytes;
    if ((value & 1) != 0) {
      page.bytes[at]++;
      if (maxBuffered > 0) {
        buffer(number, (int) value);
      } else {
        page.dirty = true;
      }
    } else if (page.bytes[at] + page.bytes[pageBytes - 1 - at] == 1000) {
      throw new IllegalStateException("a sum of two bytes is 1000");
    }
  }

  private byte[] fresh(int number) {
    byte[] bytes = new byte[pageBytes];
    new java.util.Random(number).nextBytes(bytes);
    return bytes;
  }

  private void evict() throws Exception {
    var eldest = cache.entrySet().iterator();
    Map.Entry<Integer, Page> entry = eldest.next();
    eldest.remove();
    if (entry.getValue().dirty) {
      write(entry.getKey(), entry.getValue().bytes);
    }
  }

  private void write(int number, byte[] bytes) throws Exception {
    Object current = getCurrentKey();
    setCurrentKey(number / pagesPerShard);
    pages.put(number, bytes);
    setCurrentKey(current);
    pagesWritten++;
  }

  private void buffer(int number, int identity) throws Exception {
    Buffer buffer = buffers.computeIfAbsent(number, n -> new Buffer());
    buffer.add(identity);
    buffered++;
    if (buffered >= maxBuffered || buffer.count >= MAX_BUFFERED_OF_PAGE) {
      merge();
    }
  }

  /** Merges the fuller half of the buffers. */
  private void merge() throws Exception {
    List<Map.Entry<Integer, Buffer>> fullest = new ArrayList<>(buffers.entrySet());
    fullest.sort((a, b) -> b.getValue().count - a.getValue().count);
    for (Map.Entry<Integer, Buffer> entry : fullest) {
      int number = entry.getKey();
      Page page = cache.get(number);
      byte[] bytes = page == null ? null : page.bytes;
      if (bytes == null) {
        Object current = getCurrentKey();
        setCurrentKey(number / pagesPerShard);
        bytes = pages.get(number);
        setCurrentKey(current);
        bytes = bytes == null ? fresh(number) : bytes;
        entry.getValue().applyTo(bytes);
      }
      write(number, bytes);
      buffered -= entry.getValue().count;
      buffers.remove(number);
      if (buffered < maxBuffered / 2) {
        return;
      }
    }
  }

  long pagesWritten() {
    return pagesWritten;
  }
}
