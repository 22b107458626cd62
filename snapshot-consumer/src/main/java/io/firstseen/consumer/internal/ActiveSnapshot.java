package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotSet;

/**
 * A verified snapshot of a set. Immutable.
 *
 * @param set the opened shards
 * @param publishedMillis when its manifest was published, or, if that is earlier, when it was first
 *     read, in milliseconds since the epoch. A manifest with a future date therefore becomes stale
 *     no later than a manifest that is published when it is read
 */
public record ActiveSnapshot(SnapshotSet set, long publishedMillis) {

  /** Creates a snapshot whose manifest is read now. */
  public static ActiveSnapshot of(SnapshotSet set, long nowMillis) {
    return new ActiveSnapshot(set, Math.min(set.manifest().publishedMillis(), nowMillis));
  }

  /** Returns the manifest of the set. */
  public Manifest manifest() {
    return set.manifest();
  }

  /** Returns the total bytes of its shards. */
  public long setBytes() {
    long bytes = 0;
    for (int shard = 0; shard < manifest().parameters().shards().count(); shard++) {
      bytes += set.snapshot(shard) == null ? 0 : set.snapshot(shard).asByteBuffer().remaining();
    }
    return bytes;
  }

  long sequence() {
    return manifest().sequence();
  }
}
