package io.firstseen.operators.compaction;

import java.io.Serializable;

/**
 * The division of event time into windows: {@code [k * windowMillis, (k + 1) * windowMillis)} for
 * every whole k. A window is named by its end.
 *
 * @param windowMillis length of a window in milliseconds, at least 1
 */
record WindowRule(long windowMillis) implements Serializable {

  WindowRule {
    if (windowMillis < 1) {
      throw new IllegalArgumentException("windowMillis must be at least 1, got " + windowMillis);
    }
  }

  /**
   * The end of the window that an instant lies in; for a window's end, the end of the next window.
   *
   * @throws IllegalArgumentException if that window ends beyond what a long can hold
   */
  long endOf(long instantMillis) {
    long end = instantMillis - Math.floorMod(instantMillis, windowMillis) + windowMillis;
    if (end <= instantMillis) {
      throw new IllegalArgumentException(
          "event time must lie in a window of %d ms that ends before %d, got %d"
              .formatted(windowMillis, Long.MAX_VALUE, instantMillis));
    }
    return end;
  }

  /**
   * The end of the newest window that a watermark closes: no event before it is still to come. Not
   * for {@link Long#MAX_VALUE}, which says that nothing at all is still to come.
   */
  long newestClosedEnd(long watermarkMillis) {
    long next = watermarkMillis + 1;
    long end = next - Math.floorMod(next, windowMillis);
    return end > next ? Long.MIN_VALUE : end;
  }
}
