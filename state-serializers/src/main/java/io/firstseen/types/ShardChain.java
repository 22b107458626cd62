package io.firstseen.types;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.SnapshotDelta;

/**
 * What a snapshot shard has published since its base. It decides whether the next change is
 * published as a delta alone.
 *
 * @param universe the values of base and deltas
 * @param headroomBits how much room the universe has for more keys: one for each 2^headroomBits
 *     that lived when the chain began
 * @param count the number of values of the last published set
 * @param setDigest the digest of that set
 * @param baseKeys the number of live keys when the base was made
 * @param baseBytes the length of the base
 * @param baseWindowEndMillis the end of the base's window (event time, exclusive)
 * @param deltas the number of deltas since the base
 * @param deltaBytes the total length of these deltas
 */
public record ShardChain(
    Universe universe,
    int headroomBits,
    long count,
    String setDigest,
    long baseKeys,
    long baseBytes,
    long baseWindowEndMillis,
    int deltas,
    long deltaBytes) {

  /** The chain after one more delta. */
  public ShardChain with(SnapshotDelta delta) {
    return new ShardChain(
        universe,
        headroomBits,
        delta.header().count(),
        delta.header().setDigest(),
        baseKeys,
        baseBytes,
        baseWindowEndMillis,
        deltas + 1,
        deltaBytes + delta.asByteBuffer().remaining());
  }
}
