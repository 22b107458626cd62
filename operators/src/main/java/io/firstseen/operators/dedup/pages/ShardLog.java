package io.firstseen.operators.dedup.pages;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.cuckoo.LogReplay;
import io.firstseen.filters.cuckoo.LogSegment;
import io.firstseen.filters.cuckoo.OpenSegment;
import io.firstseen.filters.cuckoo.PageChange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a shard's pages since all of its pages were written to state. The pages in state
 * and the log together give the pages byte for byte.
 */
final class ShardLog {
  private final Integer key;
  private final PageState state;
  private final LogRotation rotation;
  private final OpenSegment open;
  private final List<Stored> segments = new ArrayList<>();

  /** The least depth of the pages in state, or less. */
  private int pageDepth;

  private static final class Stored {
    final int number;
    final int length;

    /** Null while it is only in state. */
    @Nullable LogSegment segment;

    /** See {@link PageState#LOGS}; -1 if it is not in state. */
    int log;

    Stored(int number, LogSegment segment, int log) {
      this.number = number;
      this.length = segment.length();
      this.segment = segment;
      this.log = log;
    }
  }

  /**
   * Reads the log of a shard from state.
   *
   * @param pageDepth the least depth of the shard's pages
   */
  ShardLog(Integer key, OpenSegment open, PageState state, LogRotation rotation, int pageDepth) {
    this.key = key;
    this.state = state;
    this.rotation = rotation;
    this.open = open;
    this.pageDepth = pageDepth;
    state.readLog(
        key,
        (number, log, segment) -> {
          add(new Stored(number, segment, log));
          this.pageDepth = Math.min(this.pageDepth, segment.groupBits());
        });
    rotation.inMemory(open.heapBytes());
  }

  boolean isEmpty() {
    return segments.isEmpty() && open.count() == 0;
  }

  /** Adds a change. */
  void add(PageChange change, long identity, @Nullable Expiry expiry) {
    int before = open.heapBytes();
    if (!open.add(change, identity, expiry)) {
      seal();
      before = open.heapBytes();
      boolean unused = open.add(change, identity, expiry);
    }
    int after = open.heapBytes();
    if (after != before) {
      rotation.inMemory(after - before);
    }
  }

  /** Makes a segment of the latest changes. */
  void seal() {
    if (open.count() > 0) {
      int before = open.heapBytes();
      int number = segments.isEmpty() ? 0 : segments.get(segments.size() - 1).number + 1;
      add(new Stored(number, open.seal(pageDepth), -1));
      rotation.inMemory(open.heapBytes() - before);
    }
  }

  private void add(Stored stored) {
    segments.add(stored);
    rotation.logged(stored.length);
    rotation.inMemory(stored.length);
  }

  /** Returns whether state and log may differ for the page of an identity, after {@link #seal}. */
  boolean mayChange(long identity) {
    for (int i = 0; i < segments.size(); i++) {
      if (segment(segments.get(i)).mayChange(identity)) {
        return true;
      }
    }
    return false;
  }

  /** Repeats the changes of a page. */
  void repeat(LogReplay replay) {
    for (int i = 0; i < segments.size(); i++) {
      replay.repeat(segment(segments.get(i)));
    }
    int before = open.heapBytes();
    replay.repeat(open);
    rotation.inMemory(open.heapBytes() - before);
  }

  private LogSegment segment(Stored stored) {
    if (stored.segment == null) {
      stored.segment = state.readSegment(key, stored.log, stored.number);
      rotation.inMemory(stored.length);
    }
    return stored.segment;
  }

  /**
   * Writes to state what it does not have.
   *
   * @param log see {@link PageState#LOGS}
   */
  void save(int log) {
    seal();
    for (int i = segments.size() - 1; i >= 0 && segments.get(i).log < 0; i--) {
      Stored stored = segments.get(i);
      state.writeSegment(key, log, stored.number, segment(stored));
      stored.log = log;
    }
  }

  /** Removes from memory what state has. */
  void release() {
    for (int i = 0; i < segments.size(); i++) {
      Stored stored = segments.get(i);
      if (stored.log >= 0 && stored.segment != null) {
        stored.segment = null;
        rotation.inMemory(-stored.length);
      }
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
    open.clear();
    int inMemory = before - open.heapBytes();
    int logged = 0;
    for (Stored stored : segments) {
      logged += stored.length;
      inMemory += stored.segment == null ? 0 : stored.length;
      if (stored.log >= 0) {
        state.removeSegment(key, stored.log, stored.number);
      }
    }
    segments.clear();
    rotation.inMemory(-inMemory);
    rotation.logged(-logged);
  }
}
