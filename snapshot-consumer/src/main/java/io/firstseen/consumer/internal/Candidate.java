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
import org.jspecify.annotations.Nullable;

/** A manifest that may become active, and how much of it is loaded. */
final class Candidate {
  final Manifest manifest;
  final byte[] json;
  final long offset;
  final long readMillis;
  boolean waits;
  long waitsSinceMillis;
  long fetchesAgainMillis = Long.MIN_VALUE;
  // For each shard that was loaded by deltas: the set digest that the deltas began with.
  private final Map<Integer, String> countedFrom = new HashMap<>();
  private long added;
  private long removed;
  private boolean isCountKnown = true;

  /**
   * Makes a candidate.
   *
   * @param json the manifest as it was published
   * @param offset its place in the topic
   * @param readMillis when it was read, in milliseconds since the epoch
   */
  Candidate(Manifest manifest, byte[] json, long offset, long readMillis) {
    this.manifest = manifest;
    this.json = json;
    this.offset = offset;
    this.readMillis = readMillis;
  }

  long sequence() {
    return manifest.sequence();
  }

  /**
   * Counts the keys that a plan adds and removes.
   *
   * @param fromSetDigest the set digest that the plan begins with; empty if it begins with a base
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
   * The changes since a manifest; null if unknown, as when a shard was loaded whole or for another
   * candidate.
   */
  Decision.@Nullable Changes changesSince(@Nullable Manifest answering) {
    if (!isCountKnown
        || answering == null
        || answering.shards().size() != manifest.shards().size()) {
      return null;
    }
    for (ManifestShard shard : manifest.shards()) {
      ManifestShard before = answering.shards().get(shard.shard());
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
