package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotSet;

/**
 * A verified snapshot of a set. Immutable.
 *
 * @param set the opened shards
 * @param publishedMillis when its manifest was written to the topic, in milliseconds since the
 *     epoch
 */
public record ActiveSnapshot(SnapshotSet set, long publishedMillis) {

  /** What was published. */
  public Manifest manifest() {
    return set.manifest();
  }

  long sequence() {
    return manifest().sequence();
  }
}
