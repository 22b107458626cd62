package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.LogSegment;
import io.firstseen.types.ShardSummary;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.jspecify.annotations.Nullable;

/** Reads and writes the pages and the summaries of a task's shards in managed keyed state. */
public final class PageState {
  /** The number of states for the log. */
  public static final int LOGS = 4;

  private final MapState<Integer, CuckooPage> pages;
  private final ValueState<ShardSummary> summaries;
  private final List<MapState<Integer, byte[]>> logs;
  private final CuckooShape shape;
  private final Consumer<Integer> setCurrentKey;

  /**
   * @param logs for each shard, its log segments by their numbers, each in one of the states
   * @param setCurrentKey sets Flink's key; called before each access
   */
  public PageState(
      MapState<Integer, CuckooPage> pages,
      ValueState<ShardSummary> summaries,
      List<MapState<Integer, byte[]>> logs,
      CuckooShape shape,
      Consumer<Integer> setCurrentKey) {
    this.pages = pages;
    this.summaries = summaries;
    this.logs = logs;
    this.shape = shape;
    this.setCurrentKey = setCurrentKey;
  }

  /** Returns the page with a number, or null. */
  @Nullable CuckooPage read(Integer key, int id) {
    setCurrentKey.accept(key);
    try {
      return pages.get(id);
    } catch (Exception e) {
      throw failed(e);
    }
  }

  /** Visits all pages of a shard. */
  void readAll(Integer key, Consumer<CuckooPage> visitor) {
    setCurrentKey.accept(key);
    try {
      pages.values().forEach(visitor);
    } catch (Exception e) {
      throw failed(e);
    }
  }

  public void write(Integer key, CuckooPage page) {
    setCurrentKey.accept(key);
    try {
      pages.put(page.id(), page);
    } catch (Exception e) {
      throw failed(e);
    }
  }

  public void remove(Integer key, int id) {
    setCurrentKey.accept(key);
    try {
      pages.remove(id);
    } catch (Exception e) {
      throw failed(e);
    }
  }

  /** Returns the last written summary of a shard; null if there is none. */
  @Nullable ShardSummary readSummary(Integer key) {
    setCurrentKey.accept(key);
    try {
      return summaries.value();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  void writeSummary(Integer key, ShardSummary summary) {
    setCurrentKey.accept(key);
    try {
      summaries.update(summary);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** A reader of log segments. */
  @FunctionalInterface
  interface SegmentVisitor {
    void visit(int number, int log, LogSegment segment);
  }

  /** Visits the log segments of a shard, in their order. */
  void readLog(Integer key, SegmentVisitor visitor) {
    setCurrentKey.accept(key);
    TreeMap<Integer, Runnable> visits = new TreeMap<>();
    try {
      for (int log = 0; log < LOGS; log++) {
        int of = log;
        for (Map.Entry<Integer, byte[]> entry : logs.get(log).entries()) {
          LogSegment segment = LogSegment.of(shape, entry.getValue());
          visits.put(entry.getKey(), () -> visitor.visit(entry.getKey(), of, segment));
        }
      }
    } catch (Exception e) {
      throw failed(e);
    }
    visits.values().forEach(Runnable::run);
  }

  void writeSegment(Integer key, int log, int number, LogSegment segment) {
    setCurrentKey.accept(key);
    try {
      logs.get(log).put(number, segment.toBytes());
    } catch (Exception e) {
      throw failed(e);
    }
  }

  void removeSegment(Integer key, int log, int number) {
    setCurrentKey.accept(key);
    try {
      logs.get(log).remove(number);
    } catch (Exception e) {
      throw failed(e);
    }
  }

  /** Removes all log segments of a shard. */
  void clearLog(Integer key) {
    setCurrentKey.accept(key);
    logs.forEach(MapState::clear);
  }

  private static RuntimeException failed(Exception e) {
    return new IllegalStateException("the state backend failed: " + e.getMessage(), e);
  }
}
