package io.firstseen.types;

import java.util.Arrays;
import java.util.Objects;

/**
 * How far a snapshot shard is: a small value beside its two big ones (the live set and the pending
 * operations), so that reading it is cheap.
 *
 * @param closedUntilMillis end of the last window that the shard closed (event time, exclusive), or
 *     {@link Long#MIN_VALUE} if it closed none
 * @param liveCount number of keys in the live set
 * @param snapshotCount number of snapshots cut so far; it numbers them
 * @param openEndsMillis ends of the windows that hold pending operations, ascending; not copied,
 *     not to be changed
 */
// Equality by content is written out below.
@SuppressWarnings("ArrayRecordComponent")
public record ShardWindows(
    long closedUntilMillis, long liveCount, long snapshotCount, long[] openEndsMillis) {

  /** A shard that never saw an operation. */
  public static final ShardWindows NONE = new ShardWindows(Long.MIN_VALUE, 0, 0, new long[0]);

  /** Whether a window holds pending operations. */
  public boolean isOpen(long windowEndMillis) {
    return Arrays.binarySearch(openEndsMillis, windowEndMillis) >= 0;
  }

  /** The same with one more window that holds pending operations. */
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
    return new ShardWindows(closedUntilMillis, liveCount, snapshotCount, ends);
  }

  /** The same after a window was closed, no later than the oldest open one, and changed nothing. */
  public ShardWindows closed(long windowEndMillis) {
    int first = openEndsMillis.length > 0 && openEndsMillis[0] <= windowEndMillis ? 1 : 0;
    return new ShardWindows(
        windowEndMillis,
        liveCount,
        snapshotCount,
        Arrays.copyOfRange(openEndsMillis, first, openEndsMillis.length));
  }

  /**
   * The same after a further snapshot was cut.
   *
   * @param newLiveCount number of keys in the live set from now on
   */
  public ShardWindows cut(long newLiveCount) {
    return new ShardWindows(closedUntilMillis, newLiveCount, snapshotCount + 1, openEndsMillis);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ShardWindows that
        && closedUntilMillis == that.closedUntilMillis
        && liveCount == that.liveCount
        && snapshotCount == that.snapshotCount
        && Arrays.equals(openEndsMillis, that.openEndsMillis);
  }

  @Override
  public int hashCode() {
    return Objects.hash(
        closedUntilMillis, liveCount, snapshotCount, Arrays.hashCode(openEndsMillis));
  }

  @Override
  public String toString() {
    return "closed until %d, %d live, %d snapshots, open %s"
        .formatted(closedUntilMillis, liveCount, snapshotCount, Arrays.toString(openEndsMillis));
  }
}
