package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUpPlan;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A manifest that may come to answer, and how far it has come. */
final class Candidate {
  final Manifest manifest;
  final byte[] json;
  final long offset;
  final long publishedMillis;
  boolean waits;
  long waitsSinceMillis;
  long fetchesAgainMillis = Long.MIN_VALUE;
  // Of the shards that were loaded by deltas, the digest of the set from which.
  private final Map<Integer, String> countedFrom = new HashMap<>();
  private long added;
  private long removed;
  private boolean isCountKnown = true;

  /**
   * Makes a candidate.
   *
   * @param json the manifest as it was published
   * @param offset its place in the topic
   */
  Candidate(Manifest manifest, byte[] json, long offset, long publishedMillis) {
    this.manifest = manifest;
    this.json = json;
    this.offset = offset;
    this.publishedMillis = publishedMillis;
  }

  long sequence() {
    return manifest.sequence();
  }

  /**
   * Counts what a plan changes.
   *
   * @param fromSetDigest the digest of the set that it begins with; empty if it is a base
   */
  void count(
      ManifestShard shard,
      CatchUpPlan plan,
      Optional<String> fromSetDigest,
      Map<String, ByteBuffer> bytes)
      throws SnapshotException {
    isCountKnown &= fromSetDigest.isPresent();
    countedFrom.put(shard.shard(), fromSetDigest.orElse(""));
    for (BlobReference blob : plan.blobs()) {
      if (isCountKnown) {
        SnapshotDelta delta = SnapshotDelta.read(bytes.get(blob.digest()));
        added += delta.addedCount();
        removed += delta.removedCount();
      }
    }
  }

  /**
   * What has changed since a manifest; null if that is not known, as where a shard was loaded whole
   * or for another candidate.
   */
  Decision.Changes changesSince(Manifest answeringOrNull) {
    if (!isCountKnown
        || answeringOrNull == null
        || answeringOrNull.shards().size() != manifest.shards().size()) {
      return null;
    }
    for (ManifestShard shard : manifest.shards()) {
      ManifestShard before = answeringOrNull.shards().get(shard.shard());
      boolean isCounted =
          before.base() != null
              && before.newest().setDigest().equals(countedFrom.get(shard.shard()));
      if (!isCounted && !shard.equals(before)) {
        return null;
      }
    }
    return new Decision.Changes(added, removed);
  }
}
