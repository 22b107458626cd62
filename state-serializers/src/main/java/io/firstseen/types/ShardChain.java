package io.firstseen.types;

import io.firstseen.filters.snapshot.SnapshotDelta;

/**
 * What a snapshot shard has published since its base: all that decides whether the next change goes
 * out as a delta alone.
 *
 * @param valueBits the bits of a value in base and deltas
 * @param count the number of values that were published last
 * @param setDigest the digest of those values
 * @param baseKeys the number of keys that lived when the base was cut
 * @param baseBytes the length of the base
 * @param baseWindowEndMillis the end of its window (event time, exclusive)
 * @param deltas the number of deltas since
 * @param deltaBytes their lengths together
 */
public record ShardChain(
    int valueBits,
    long count,
    String setDigest,
    long baseKeys,
    long baseBytes,
    long baseWindowEndMillis,
    int deltas,
    long deltaBytes) {

  /** The same after one more delta. */
  public ShardChain with(SnapshotDelta delta) {
    return new ShardChain(
        valueBits,
        delta.header().count(),
        delta.header().setDigest(),
        baseKeys,
        baseBytes,
        baseWindowEndMillis,
        deltas + 1,
        deltaBytes + delta.asByteBuffer().remaining());
  }
}
