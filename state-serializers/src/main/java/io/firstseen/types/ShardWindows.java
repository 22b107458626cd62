package io.firstseen.types;

import java.util.Arrays;
import java.util.Objects;

/**
 * The open and closed windows of a snapshot shard. This small value is stored separately from two
 * large values (the live set and the pending operations), so that it can be read cheaply.
 *
 * @param closedUntilMillis end of the last window that the shard closed (event time, exclusive), or
 *     {@link Long#MIN_VALUE} if it closed none
 * @param liveCount number of keys in the live set
 * @param openEndsMillis ends of the windows that hold pending operations, ascending. Not copied;
 *     must not be changed
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record ShardWindows(long closedUntilMillis, long liveCount, long[] openEndsMillis) {

  /** The value of a shard that never had an operation. */
  public static final ShardWindows NONE = new ShardWindows(Long.MIN_VALUE, 0, new long[0]);

  /** Returns whether a window holds pending operations. */
  public boolean isOpen(long windowEndMillis) {
    return Arrays.binarySearch(openEndsMillis, windowEndMillis) >= 0;
  }

  /** Returns a copy with one more window that holds pending operations. */
  public ShardWindows opened(long windowEndMillis) {
    int place = Arrays.binarySearch(openEndsMillis, windowEndMillis);
    if (place >= 0) {
      return this;
    }
    int insertion = -place - 1;
    long[] ends = new long[openEndsMillis.length + 1];
    System.arraycopy(openEndsMillis, 0, ends, 0, insertion);
    ends[insertion] = windowEndMillis;
    System.arraycopy(
        openEndsMillis, insertion, ends, insertion + 1, openEndsMillis.length - insertion);
    return new ShardWindows(closedUntilMillis, liveCount, ends);
  }

  /**
   * Returns a copy after a window was closed without a change. The window must not be later than
   * the oldest open window.
   */
  public ShardWindows closed(long windowEndMillis) {
    int first = openEndsMillis.length > 0 && openEndsMillis[0] <= windowEndMillis ? 1 : 0;
    return new ShardWindows(
        windowEndMillis,
        liveCount,
        Arrays.copyOfRange(openEndsMillis, first, openEndsMillis.length));
  }

  /** Returns a copy with a different number of keys in the live set. */
  public ShardWindows withLiveCount(long newLiveCount) {
    return new ShardWindows(closedUntilMillis, newLiveCount, openEndsMillis);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ShardWindows that
        && closedUntilMillis == that.closedUntilMillis
        && liveCount == that.liveCount
        && Arrays.equals(openEndsMillis, that.openEndsMillis);
  }

  @Override
  public int hashCode() {
    return Objects.hash(closedUntilMillis, liveCount, Arrays.hashCode(openEndsMillis));
  }

  @Override
  public String toString() {
    return "closed until %d, %d live, open %s"
        .formatted(closedUntilMillis, liveCount, Arrays.toString(openEndsMillis));
  }
}
