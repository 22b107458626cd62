package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.types.ShardSummary;
import java.io.IOException;
import java.util.function.Consumer;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.jspecify.annotations.Nullable;

/** Reads and writes the pages and the summaries of a task's shards in managed keyed state. */
public final class PageState {
  private final MapState<Integer, CuckooPage> pages;
  private final ValueState<ShardSummary> summaries;
  private final Consumer<Integer> setCurrentKey;

  /**
   * @param setCurrentKey sets Flink's key; called before each access
   */
  public PageState(
      MapState<Integer, CuckooPage> pages,
      ValueState<ShardSummary> summaries,
      Consumer<Integer> setCurrentKey) {
    this.pages = pages;
    this.summaries = summaries;
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

  private static RuntimeException failed(Exception e) {
    return new IllegalStateException("the state backend failed: " + e.getMessage(), e);
  }
}
