package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.LogSegment;
import io.firstseen.types.ShardSummary;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.util.function.SupplierWithException;
import org.apache.flink.util.function.ThrowingRunnable;
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
    return get(key, () -> pages.get(id));
  }

  void readAll(Integer key, Consumer<CuckooPage> visitor) {
    run(key, () -> pages.values().forEach(visitor));
  }

  public void write(Integer key, CuckooPage page) {
    run(key, () -> pages.put(page.id(), page));
  }

  public void remove(Integer key, int id) {
    run(key, () -> pages.remove(id));
  }

  /** Returns the last written summary of a shard; null if there is none. */
  @Nullable ShardSummary readSummary(Integer key) {
    return get(key, summaries::value);
  }

  void writeSummary(Integer key, ShardSummary summary) {
    run(key, () -> summaries.update(summary));
  }

  /** A reader of log segments. */
  @FunctionalInterface
  interface SegmentVisitor {
    void visit(int number, int log, LogSegment segment);
  }

  /** Visits the log segments of a shard, in their order. */
  void readLog(Integer key, SegmentVisitor visitor) {
    TreeMap<Integer, Runnable> visits = new TreeMap<>();
    run(
        key,
        () -> {
          for (int log = 0; log < LOGS; log++) {
            int of = log;
            for (Map.Entry<Integer, byte[]> entry : logs.get(log).entries()) {
              LogSegment segment = LogSegment.of(shape, entry.getValue());
              visits.put(entry.getKey(), () -> visitor.visit(entry.getKey(), of, segment));
            }
          }
        });
    visits.values().forEach(Runnable::run);
  }

  void writeSegment(Integer key, int log, int number, LogSegment segment) {
    run(key, () -> logs.get(log).put(number, segment.toBytes()));
  }

  void removeSegment(Integer key, int log, int number) {
    run(key, () -> logs.get(log).remove(number));
  }

  void clearLog(Integer key) {
    run(key, () -> logs.forEach(MapState::clear));
  }

  private void run(Integer key, ThrowingRunnable<Exception> access) {
    Void unused =
        get(
            key,
            () -> {
              access.run();
              return null;
            });
  }

  private <T> @Nullable T get(Integer key, SupplierWithException<@Nullable T, Exception> access) {
    setCurrentKey.accept(key);
    try {
      return access.get();
    } catch (Exception e) {
      throw new IllegalStateException("the state backend failed: " + e.getMessage(), e);
    }
  }
}
