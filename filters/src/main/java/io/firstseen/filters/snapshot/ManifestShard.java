package io.firstseen.filters.snapshot;

import java.util.List;

/**
 * A shard as a manifest describes it.
 *
 * @param shard its number
 * @param count the number of its live hashes
 * @param base the snapshot to begin with; null for a shard that never held a key
 * @param deltas the changes to apply to it, in order; none in this version
 */
public record ManifestShard(int shard, long count, BlobReference base, List<BlobReference> deltas) {

  /** Refuses a shard that holds keys but has no base. */
  public ManifestShard {
    deltas = List.copyOf(deltas);
    Manifest.requireCount(count);
    if (base == null && (count > 0 || !deltas.isEmpty())) {
      throw new IllegalArgumentException(
          "shard " + shard + " must have a base, since it has keys or deltas");
    }
  }

  /** A shard whose keys all stand in one base. */
  public static ManifestShard of(int shard, long count, BlobReference base) {
    return new ManifestShard(shard, count, base, List.of());
  }

  /** A shard that never held a key. */
  public static ManifestShard empty(int shard) {
    return new ManifestShard(shard, 0, null, List.of());
  }
}
