package io.firstseen.server;

import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotSet;

/**
 * The size and the false-positive rate of a set, for the status and the metrics.
 *
 * @param bytes the total length of its shards
 * @param falsePositiveRate the probability that a key outside the set is reported as present
 */
record SetFigures(long bytes, double falsePositiveRate) {

  static SetFigures of(SnapshotSet set) {
    int shards = set.manifest().parameters().shards().count();
    long bytes = 0;
    double rates = 0;
    for (int shard = 0; shard < shards; shard++) {
      Snapshot snapshot = set.snapshot(shard);
      if (snapshot != null) {
        SnapshotHeader header = snapshot.header();
        bytes += snapshot.asByteBuffer().remaining();
        rates += header.universe().rateOf(header.count());
      }
    }
    // A key outside the set falls into each shard with equal probability.
    return new SetFigures(bytes, rates / shards);
  }
}
