package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.Universe;

/**
 * The data that a snapshot shard has published since its base. It determines whether only the
 * section of the next change is published.
 *
 * @param universe the values of the base and of the changes
 * @param headroomBits the capacity of the universe for further keys: one per 2^headroomBits keys
 *     that were live when the chain began
 * @param count the number of values of the last published set
 * @param baseKeys the number of live keys when the base was created
 * @param baseBytes the length of the base
 * @param baseWindowEndMillis the end of the base's window (event time, exclusive)
 * @param sectionBytes the total length of the sections since the base
 */
public record ShardChain(
    Universe universe,
    int headroomBits,
    long count,
    long baseKeys,
    long baseBytes,
    long baseWindowEndMillis,
    long sectionBytes) {

  /** Returns the chain after one more change. */
  public ShardChain with(long newCount, int bytes) {
    return new ShardChain(
        universe,
        headroomBits,
        newCount,
        baseKeys,
        baseBytes,
        baseWindowEndMillis,
        sectionBytes + bytes);
  }
}
