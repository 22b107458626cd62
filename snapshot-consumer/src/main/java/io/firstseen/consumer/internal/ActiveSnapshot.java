package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotSet;

/**
 * A verified snapshot of a set. Immutable.
 *
 * @param set the opened shards
 * @param publishedMillis when its manifest was written to the topic, in milliseconds since the
 *     epoch
 * @param manifestJson the manifest as it was published
 */
@SuppressWarnings("ArrayRecordComponent")
public record ActiveSnapshot(SnapshotSet set, long publishedMillis, byte[] manifestJson) {

  /** The manifest of the set. */
  public Manifest manifest() {
    return set.manifest();
  }

  /** The total bytes of its shards. */
  public long setBytes() {
    long bytes = 0;
    for (int shard = 0; shard < manifest().shards().size(); shard++) {
      bytes += set.snapshot(shard) == null ? 0 : set.snapshot(shard).asByteBuffer().remaining();
    }
    return bytes;
  }

  long sequence() {
    return manifest().sequence();
  }
}
