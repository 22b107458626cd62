package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.LogReplay;
import io.firstseen.filters.cuckoo.LogSegment;
import io.firstseen.filters.cuckoo.LogSegments;
import io.firstseen.filters.cuckoo.OpenSegment;
import io.firstseen.filters.cuckoo.PageChange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a shard's pages since all of its pages were written to state. The pages in state
 * and the log together give the pages byte for byte.
 *
 * <p>State has the log in segments, except for the latest changes. The segments are also in memory,
 * from a restore or from their first use, until a checkpoint at which all pages are in memory.
 */
final class ShardLog {
  private final Integer key;
  private final PageState state;
  private final LogRotation rotation;
  private final OpenSegment open;
  private final List<Stored> stored = new ArrayList<>();

  /** The bytes in memory that are counted. */
  private int counted;

  /** All changes in state; null if they are not in memory. */
  private @Nullable LogSegments inMemory;

  /** The least depth of the pages in state, or less. */
  private int pageDepth;

  /**
   * A segment in state.
   *
   * @param length in bytes
   * @param log see {@link PageState#LOGS}
   */
  private record Stored(int number, int length, int log) {}

  /**
   * Reads the log of a shard from state.
   *
   * @param pageDepth the least depth of the shard's pages
   */
  ShardLog(Integer key, CuckooShape shape, PageState state, LogRotation rotation, int pageDepth) {
    this.key = key;
    this.state = state;
    this.rotation = rotation;
    List<LogSegment> segments = new ArrayList<>();
    state.readLog(
        key,
        (number, log, segment) -> {
          stored.add(new Stored(number, segment.length(), log));
          segments.add(segment);
        });
    // Pages in state may be less deep than the table, but none is less deep than a group.
    this.pageDepth = segments.stream().mapToInt(LogSegment::groupBits).max().orElse(pageDepth);
    open = new OpenSegment(shape, this.pageDepth);
    if (!segments.isEmpty()) {
      inMemory = new LogSegments();
      segments.forEach(this::remember);
    }
    rotation.logged(stored.stream().mapToInt(Stored::length).sum());
    countMemory();
  }

  boolean isEmpty() {
    return stored.isEmpty() && open.count() == 0;
  }

  void add(PageChange change, long identity, @Nullable Expiry expiry) {
    if (!open.add(change, identity, expiry)) {
      save();
      boolean unused = open.add(change, identity, expiry);
    }
    countMemory();
  }

  private void countMemory() {
    int bytes = open.heapBytes() + (inMemory == null ? 0 : inMemory.length());
    if (bytes != counted) {
      rotation.inMemory(bytes - counted);
      counted = bytes;
    }
  }

  /** Writes the latest changes to state. */
  void save() {
    if (open.count() > 0) {
      int number = stored.isEmpty() ? 0 : stored.get(stored.size() - 1).number + 1;
      LogSegment segment = open.seal();
      countMemory();
      state.writeSegment(key, rotation.log(), number, segment);
      add(new Stored(number, segment.length(), rotation.log()), segment);
    }
  }

  private void add(Stored latest, LogSegment segment) {
    stored.add(latest);
    rotation.logged(latest.length);
    if (inMemory != null) {
      remember(segment);
    }
  }

  private void remember(LogSegment segment) {
    inMemory.add(segment, pageDepth);
    countMemory();
  }

  private LogSegments segments() {
    if (inMemory == null) {
      inMemory = new LogSegments();
      state.readLog(key, (number, log, segment) -> remember(segment));
    }
    return inMemory;
  }

  /** Returns whether state and log may differ for the page of an identity. */
  boolean mayChange(long identity) {
    boolean mayChange = open.mayChange(identity);
    countMemory();
    return mayChange || (!stored.isEmpty() && segments().mayChange(identity));
  }

  void repeat(LogReplay replay) {
    if (!stored.isEmpty()) {
      replay.repeat(segments());
    }
    replay.repeat(open);
    countMemory();
  }

  /** Removes from memory what state has. */
  void release() {
    inMemory = null;
    countMemory();
  }

  /**
   * Empties the log.
   *
   * @param newPageDepth the least depth of the pages, which are all in state
   */
  void clear(int newPageDepth) {
    pageDepth = newPageDepth;
    open.clear(newPageDepth);
    inMemory = inMemory == null ? null : new LogSegments();
    countMemory();
    int length = 0;
    for (Stored segment : stored) {
      length += segment.length;
      state.removeSegment(key, segment.log, segment.number);
    }
    stored.clear();
    rotation.logged(-length);
  }
}
