package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.serializers.ShardSnapshot;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The blobs that a manifest names for a shard: the newest base, all deltas behind it, and some
 * deltas before it, so that a reader with an older set needs no base. No later manifest names a
 * blob that was left out once.
 */
final class PublishedChain {

  /**
   * The highest number of named deltas before the base. Together they have no more bytes than the
   * base.
   */
  static final int MAX_DELTAS_BEFORE_BASE = 8;

  private PublishedChain() {}

  /**
   * Returns the chain after a change.
   *
   * @param before the chain before; null if the shard has not published a blob yet
   * @param maxDeltas how many deltas fit into a manifest for each shard
   */
  static ManifestShard next(@Nullable ManifestShard before, ShardSnapshot change, int maxDeltas) {
    BlobReference base = change.base() == null ? before.base() : change.base().reference();
    List<BlobReference> deltas = new ArrayList<>();
    if (before != null && change.delta() != null) {
      deltas.addAll(before.deltas());
      deltas.add(change.delta().reference());
    }
    return new ManifestShard(
        change.shard(), change.liveCount(), base, withoutOld(base, deltas, maxDeltas));
  }

  private static List<BlobReference> withoutOld(
      BlobReference base, List<BlobReference> deltas, int maxDeltas) {
    int first = 0;
    while (first < deltas.size() && deltas.get(first).sequence() <= base.sequence()) {
      first++;
    }
    long bytes = 0;
    int kept = 0;
    int room = Math.min(MAX_DELTAS_BEFORE_BASE, maxDeltas - (deltas.size() - first));
    while (kept < Math.min(first, room)) {
      bytes += deltas.get(first - kept - 1).bytes();
      if (bytes > base.bytes()) {
        break;
      }
      kept++;
    }
    return deltas.subList(first - kept, deltas.size());
  }
}
