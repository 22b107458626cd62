package io.firstseen.filters.cuckoo;

import java.util.ArrayList;
import java.util.List;

/**
 * Consecutive segments of a log, in memory. Each page that is loaded looks into all of them, so
 * small segments are merged into larger ones, as in a log-structured merge-tree (O'Neil et al.
 * 1996).
 */
public final class LogSegments {
  /** The number of segments that are merged into one. */
  private static final int MERGED = 8;

  /** The number of changes from which a segment is not merged; bounds the time of a merge. */
  private static final int LARGE = 1 << 16;

  private final List<LogSegment> segments = new ArrayList<>();
  private int length;

  /**
   * Adds the next segment.
   *
   * @param pageDepth the least depth of the pages to which the segments will be applied, or less;
   *     the same for all segments
   */
  public void add(LogSegment segment, int pageDepth) {
    put(segment);
    for (int from = segments.size() - MERGED; areMerged(from); from = segments.size() - MERGED) {
      List<LogSegment> parts = segments.subList(from, segments.size());
      LogSegment merged = LogSegment.merged(parts, pageDepth);
      parts.forEach(part -> length -= part.length());
      parts.clear();
      put(merged);
    }
  }

  /**
   * Returns whether the last segments are small, and the last is at least as large as the first.
   */
  private boolean areMerged(int from) {
    if (from < 0 || sizeClass(segments.get(from)) > sizeClass(segments.get(from + MERGED - 1))) {
      return false;
    }
    for (int i = from; i < segments.size(); i++) {
      if (segments.get(i).count() >= LARGE) {
        return false;
      }
    }
    return true;
  }

  private void put(LogSegment segment) {
    segments.add(segment);
    length += segment.length();
  }

  /** Returns a number that grows by 1 when the number of changes grows by a factor of 8. */
  private static int sizeClass(LogSegment segment) {
    return (Integer.SIZE - Integer.numberOfLeadingZeros(segment.count() / MERGED)) / 3;
  }

  /** Returns the number of bytes. */
  public int length() {
    return length;
  }

  /** Returns whether a page of an identity may have a change. */
  public boolean mayChange(long identity) {
    for (int i = 0; i < segments.size(); i++) {
      if (segments.get(i).mayChange(identity)) {
        return true;
      }
    }
    return false;
  }

  /** Repeats the changes of identities between two, both included. */
  void repeat(long first, long last, LogReplay replay) {
    for (int i = 0; i < segments.size(); i++) {
      segments.get(i).repeat(first, last, replay);
    }
  }

  List<LogSegment> all() {
    return segments;
  }
}
