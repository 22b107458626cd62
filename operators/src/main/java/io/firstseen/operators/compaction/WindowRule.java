package io.firstseen.operators.compaction;

import java.io.Serializable;

/**
 * The division of event time into windows: {@code [k * windowMillis, (k + 1) * windowMillis)} for
 * every whole k. A window is identified by its end.
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
   * Returns the end of the window that contains an instant; for a window's end, the end of the next
   * window.
   *
   * @throws IllegalArgumentException if the end of the window does not fit in a long
   */
  long endOf(long instantMillis) {
    long end = instantMillis - Math.floorMod(instantMillis, windowMillis) + windowMillis;
    if (end <= instantMillis) {
      throw new IllegalArgumentException(
          "event time must be in a window of %d ms that ends before %d, got %d"
              .formatted(windowMillis, Long.MAX_VALUE, instantMillis));
    }
    return end;
  }

  /**
   * Returns the end of the newest window that a watermark closes; {@link Long#MIN_VALUE} if no
   * window within the range of a long ends that early. Must not be called with {@link
   * Long#MAX_VALUE}, which means that no event follows.
   */
  long newestClosedEnd(long watermarkMillis) {
    long next = watermarkMillis + 1;
    long end = next - Math.floorMod(next, windowMillis);
    return end > next ? Long.MIN_VALUE : end;
  }
}
