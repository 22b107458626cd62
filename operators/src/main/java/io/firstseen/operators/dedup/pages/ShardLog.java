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
 * <p>State has the log in segments, except for the latest changes. From the first page that is
 * loaded until a checkpoint at which all pages are in memory, the segments are also in memory.
 */
final class ShardLog {
  private final Integer key;
  private final PageState state;
  private final LogRotation rotation;
  private final OpenSegment open;
  private final List<Stored> stored = new ArrayList<>();

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
    rotation.inMemory(open.heapBytes());
  }

  boolean isEmpty() {
    return stored.isEmpty() && open.count() == 0;
  }

  void add(PageChange change, long identity, @Nullable Expiry expiry) {
    int before = open.heapBytes();
    if (!open.add(change, identity, expiry)) {
      save();
      before = open.heapBytes();
      boolean unused = open.add(change, identity, expiry);
    }
    int after = open.heapBytes();
    if (after != before) {
      rotation.inMemory(after - before);
    }
  }

  /** Writes the latest changes to state. */
  void save() {
    if (open.count() > 0) {
      int before = open.heapBytes();
      int number = stored.isEmpty() ? 0 : stored.get(stored.size() - 1).number + 1;
      LogSegment segment = open.seal();
      rotation.inMemory(open.heapBytes() - before);
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
    int before = inMemory.length();
    inMemory.add(segment, pageDepth);
    rotation.inMemory(inMemory.length() - before);
  }

  private LogSegments segments() {
    if (inMemory == null) {
      inMemory = new LogSegments();
      if (!stored.isEmpty()) {
        state.readLog(key, (number, log, segment) -> remember(segment));
      }
    }
    return inMemory;
  }

  /** Returns whether state and log may differ for the page of an identity. */
  boolean mayChange(long identity) {
    int before = open.heapBytes();
    boolean mayChange = open.mayChange(identity);
    rotation.inMemory(open.heapBytes() - before);
    return mayChange || segments().mayChange(identity);
  }

  void repeat(LogReplay replay) {
    replay.repeat(segments());
    int before = open.heapBytes();
    replay.repeat(open);
    rotation.inMemory(open.heapBytes() - before);
  }

  /** Removes from memory what state has. */
  void release() {
    if (inMemory != null) {
      rotation.inMemory(-inMemory.length());
      inMemory = null;
    }
  }

  /**
   * Empties the log.
   *
   * @param newPageDepth the least depth of the pages, which are all in state
   */
  void clear(int newPageDepth) {
    pageDepth = newPageDepth;
    int before = open.heapBytes();
    open.clear(newPageDepth);
    rotation.inMemory(open.heapBytes() - before);
    int length = 0;
    for (Stored segment : stored) {
      length += segment.length;
      state.removeSegment(key, segment.log, segment.number);
    }
    stored.clear();
    rotation.logged(-length);
    if (inMemory != null) {
      release();
      inMemory = new LogSegments();
    }
  }
}
