package io.firstseen.server;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;

/**
 * The blobs of the current snapshot and of the one before, so that a peer that read a manifest can
 * still fetch its blobs after the next one. Digests are computed on demand.
 */
final class BlobShelf {
  private static final int SETS = 2;

  // In the order of publication.
  private final Deque<SnapshotSet> sets = new ArrayDeque<>();
  private final IdentityHashMap<Snapshot, String> digests = new IdentityHashMap<>();

  synchronized void add(SnapshotSet set) {
    if (sets.peekLast() == set) {
      return;
    }
    sets.addLast(set);
    if (sets.size() > SETS) {
      sets.removeFirst();
    }
    IdentityHashMap<Snapshot, String> known = new IdentityHashMap<>(digests);
    digests.clear();
    for (SnapshotSet each : sets) {
      for (int shard = 0; shard < each.manifest().shards().size(); shard++) {
        Snapshot snapshot = each.snapshot(shard);
        String digest = snapshot == null ? null : known.get(snapshot);
        if (digest != null) {
          digests.put(snapshot, digest);
        }
      }
    }
  }

  /** A manifest of the same set that names only full snapshots. */
  synchronized Manifest ofBases(SnapshotSet set) {
    Manifest published = set.manifest();
    List<ManifestShard> shards = new ArrayList<>();
    for (ManifestShard shard : published.shards()) {
      Snapshot snapshot = set.snapshot(shard.shard());
      shards.add(
          snapshot == null
              ? ManifestShard.empty(shard.shard())
              : ManifestShard.of(shard.shard(), shard.count(), reference(snapshot)));
    }
    return Manifest.of(
            published.setName(),
            published.sequence(),
            published.windowStartMillis(),
            published.windowEndMillis(),
            published.parameters(),
            shards)
        .withTimes(published.publishedMillis(), published.expiresMillis());
  }

  private BlobReference reference(Snapshot snapshot) {
    SnapshotHeader header = snapshot.header();
    return new BlobReference(
        digest(snapshot),
        snapshot.asByteBuffer().remaining(),
        header.count(),
        header.setDigest(),
        header.parameters().sequence());
  }

  private String digest(Snapshot snapshot) {
    return digests.computeIfAbsent(snapshot, Snapshot::digest);
  }

  /** The bytes of a blob. */
  synchronized Optional<ByteBuffer> find(String digest) {
    for (SnapshotSet set : sets) {
      for (int shard = 0; shard < set.manifest().shards().size(); shard++) {
        Snapshot snapshot = set.snapshot(shard);
        if (snapshot != null && digest(snapshot).equals(digest)) {
          return Optional.of(snapshot.asByteBuffer());
        }
      }
    }
    return Optional.empty();
  }
}
