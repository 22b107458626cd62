package io.firstseen.server;

import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
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

  /** The bytes of a blob. */
  synchronized Optional<ByteBuffer> find(String digest) {
    for (SnapshotSet set : sets) {
      for (int shard = 0; shard < set.manifest().shards().size(); shard++) {
        Snapshot snapshot = set.snapshot(shard);
        if (snapshot != null
            && digests.computeIfAbsent(snapshot, Snapshot::digest).equals(digest)) {
          return Optional.of(snapshot.asByteBuffer());
        }
      }
    }
    return Optional.empty();
  }
}
