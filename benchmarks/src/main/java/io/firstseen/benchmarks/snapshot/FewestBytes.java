package io.firstseen.benchmarks.snapshot;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.Pack;
import io.firstseen.filters.snapshot.Section;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The minimum number of bytes to encode the changes of a window: log2 C(range - n, added) + log2
 * C(n, removed) bits for each shard, whose n values are those before. Follows a set from one
 * manifest on.
 */
final class FewestBytes {
  private final BlobLoader loader;
  private final Universe[] universes;
  private final long[] counts;
  private SnapshotSet held;
  private BlobReference lastPack;

  FewestBytes(SnapshotSet start, BlobLoader loader) {
    this.loader = loader;
    held = start;
    lastPack = start.manifest().pack();
    int shards = start.manifest().parameters().shards().count();
    universes = new Universe[shards];
    counts = new long[shards];
    for (int shard = 0; shard < shards; shard++) {
      take(shard);
    }
  }

  /**
   * The fewest bytes of the next window.
   *
   * @param manifest the manifest of the window
   * @param operations the operations of the window, each of which had an effect; they count where a
   *     shard went out whole
   */
  double next(Manifest manifest, Iterable<HashedOperation> operations) throws IOException {
    if (Objects.equals(manifest.pack(), lastPack)) {
      return 0;
    }
    lastPack = manifest.pack();
    Pack pack = new ManifestBlobs(manifest, loader).newestPack();
    double bits = 0;
    Map<Integer, long[]> wholes = new HashMap<>();
    for (Map.Entry<Integer, Section> each : pack.sections().entrySet()) {
      int shard = each.getKey();
      Section section = each.getValue();
      if (section.isWhole()) {
        wholes.put(shard, new long[2]);
      } else {
        bits += bits(universes[shard], counts[shard], section.addedCount(), section.removedCount());
        counts[shard] += section.addedCount() - section.removedCount();
      }
    }
    if (!wholes.isEmpty()) {
      held = CatchUp.to(manifest, List.of(held), loader).set();
      count(manifest, operations, wholes);
      for (Map.Entry<Integer, long[]> whole : wholes.entrySet()) {
        int shard = whole.getKey();
        long before = counts[shard];
        take(shard);
        bits += bits(universes[shard], before, whole.getValue()[0], whole.getValue()[1]);
      }
    }
    return bits / Byte.SIZE;
  }

  private void take(int shard) {
    Snapshot snapshot = held.snapshot(shard);
    if (snapshot != null) {
      universes[shard] = snapshot.header().universe();
      counts[shard] = snapshot.header().count();
    }
  }

  /** Counts the keys that the operations add to and remove from some shards in the end. */
  private static void count(
      Manifest manifest, Iterable<HashedOperation> operations, Map<Integer, long[]> ofShards) {
    Map<Long, Integer> change = new HashMap<>();
    for (HashedOperation each : operations) {
      change.merge(each.hash(), each.operation() == Operation.ADD ? 1 : -1, Integer::sum);
    }
    change.forEach(
        (hash, sum) -> {
          long[] counts = ofShards.get(manifest.parameters().shards().shardOf(hash));
          if (counts != null && sum != 0) {
            counts[sum > 0 ? 0 : 1]++;
          }
        });
  }

  private static double bits(Universe universe, long before, long added, long removed) {
    return log2Choose(universe.range().doubleValue() - before, added)
        + log2Choose((double) before, removed);
  }

  /** The binary logarithm of the number of ways to choose {@code k} of {@code n} things. */
  static double log2Choose(double n, long k) {
    double sum = 0;
    for (long i = 0; i < k; i++) {
      sum += Math.log((n - i) / (k - i));
    }
    return sum / Math.log(2);
  }
}
