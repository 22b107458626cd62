package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUpPlan;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes verified snapshots of shards from their blobs, wherever those are stored. */
final class ShardLoader {
  private static final long FETCH_RETRY_MILLIS = 5_000;

  private final AssemblerSettings settings;
  private final @Nullable SnapshotCache cache;
  private final ChunkStore chunks;
  private final Map<String, Snapshot> loaded;
  private long fetchedBytes;

  /**
   * Makes a loader.
   *
   * @param chunks the chunks of blobs on the topic; those of a loaded shard are removed
   * @param loaded receives snapshots, by the digest of the shard's newest blob
   */
  ShardLoader(AssemblerSettings settings, ChunkStore chunks, Map<String, Snapshot> loaded) {
    this.settings = settings;
    this.cache = settings.cache();
    this.chunks = chunks;
    this.loaded = loaded;
  }

  /** Bytes of the blobs that became part of a snapshot so far. */
  long fetchedBytes() {
    return fetchedBytes;
  }

  private boolean isElsewhere(Candidate candidate) {
    return settings.blobs().isNeededFor(candidate.manifest);
  }

  /**
   * Loads a shard by the plan with the fewest bytes, given the loaded snapshots; if that plan
   * fails, from its base.
   *
   * @param held loaded snapshots of the shard
   * @param complaints receives problems that later records or attempts may cure
   * @return the missing blobs
   * @throws SnapshotException if a blob is not what the manifest says, which no later record can
   *     cure
   */
  List<BlobReference> load(
      Candidate candidate,
      ManifestShard shard,
      List<Snapshot> held,
      long nowMillis,
      List<String> complaints)
      throws SnapshotException {
    Map<String, ByteBuffer> bytes = new HashMap<>();
    Way full = new Way(Optional.empty(), CatchUpPlan.of(shard, Optional.empty()));
    Way best = best(shard, held, full);
    List<BlobReference> lacking = collect(candidate, best.plan, bytes, nowMillis, complaints);
    if (lacking.isEmpty()) {
      try {
        keep(candidate, shard, best, bytes);
        return lacking;
      } catch (SnapshotException e) {
        if (best.from.isEmpty()) {
          throw e;
        }
        complaints.add(
            "sequence %d of set '%s' cannot be reached by deltas, so the full one is taken: %s"
                .formatted(candidate.sequence(), settings.setName(), e.getMessage()));
      }
    }
    if (best.from.isPresent()) {
      lacking = collect(candidate, full.plan, bytes, nowMillis, complaints);
      if (lacking.isEmpty()) {
        keep(candidate, shard, full, bytes);
      }
    }
    return lacking;
  }

  /** A plan, and the snapshot from which it begins; empty if it begins with a base. */
  private record Way(Optional<Snapshot> from, CatchUpPlan plan) {}

  private static Way best(ManifestShard shard, List<Snapshot> held, Way full) {
    Way best = full;
    for (Snapshot from : held) {
      CatchUpPlan plan = CatchUpPlan.of(shard, Optional.of(from.header().setDigest()));
      boolean usesIt = plan.blobs().isEmpty() || plan.changesHeld();
      if (usesIt && plan.bytes() < best.plan.bytes()) {
        best = new Way(Optional.of(from), plan);
      }
    }
    return best;
  }

  /** Collects the bytes of a plan's blobs. Returns the blobs that are not available now. */
  private List<BlobReference> collect(
      Candidate candidate,
      CatchUpPlan plan,
      Map<String, ByteBuffer> bytes,
      long nowMillis,
      List<String> complaints)
      throws SnapshotException {
    List<BlobReference> lacking = new ArrayList<>();
    for (BlobReference blob : plan.blobs()) {
      if (!bytes.containsKey(blob.digest())) {
        ByteBuffer found =
            isElsewhere(candidate)
                ? fetch(candidate, blob, nowMillis, complaints)
                : assemble(candidate, blob, complaints);
        if (found == null) {
          lacking.add(blob);
        } else {
          bytes.put(blob.digest(), found);
        }
      }
    }
    return lacking;
  }

  /** Carries out a plan, and keeps the snapshot that it leads to. */
  private void keep(
      Candidate candidate, ManifestShard shard, Way way, Map<String, ByteBuffer> bytes)
      throws SnapshotException {
    CatchUpPlan plan = way.plan;
    Snapshot snapshot = follow(candidate.manifest, shard, plan, way.from, bytes);
    if (!plan.blobs().isEmpty()) {
      BlobReference first = plan.blobs().get(0);
      boolean isBase = plan.blobs().size() == 1 && !first.isDelta();
      if (isBase) {
        verify(first, snapshot);
      }
      if (cache != null) {
        boolean isIncoming = isBase && !isElsewhere(candidate) && chunks.isInFile(first);
        snapshot = cache.keep(snapshot, isBase ? first.digest() : snapshot.digest(), isIncoming);
      }
    }
    candidate.count(shard, plan, way.from.map(from -> from.header().setDigest()), bytes);
    loaded.put(shard.newest().digest(), snapshot);
    fetchedBytes += plan.bytes();
    plan.blobs().forEach(blob -> chunks.remove(blob.digest()));
  }

  private static Snapshot follow(
      Manifest manifest,
      ManifestShard shard,
      CatchUpPlan plan,
      Optional<Snapshot> held,
      Map<String, ByteBuffer> bytes)
      throws SnapshotException {
    try {
      return ManifestBlobs.catchUp(
              manifest, shard.shard(), plan, held, blob -> bytes.get(blob.digest()))
          .orElseThrow();
    } catch (SnapshotException e) {
      throw e;
    } catch (IOException e) {
      throw new SnapshotException(e.getMessage(), e);
    }
  }

  private static void verify(BlobReference blob, Snapshot snapshot) throws SnapshotException {
    try {
      snapshot.verify();
    } catch (SnapshotException e) {
      throw new SnapshotException("blob " + blob.digest() + ": " + e.getMessage(), e);
    }
  }

  /** The bytes of a blob from its chunks; null if they are missing or damaged. */
  private @Nullable ByteBuffer assemble(
      Candidate candidate, BlobReference blob, List<String> complaints) {
    if (chunks.missing(blob) > 0 || chunks.isDamaged(blob)) {
      return null;
    }
    try {
      return chunks.assemble(blob);
    } catch (SnapshotException e) {
      complaints.add(
          "blob %s of sequence %d of set '%s' is damaged: %s"
              .formatted(blob.digest(), candidate.sequence(), settings.setName(), e.getMessage()));
      return null;
    }
  }

  /** The bytes of a blob from its location; null if they cannot be fetched now. */
  private @Nullable ByteBuffer fetch(
      Candidate candidate, BlobReference blob, long nowMillis, List<String> complaints)
      throws SnapshotException {
    if (nowMillis < candidate.fetchesAgainMillis) {
      return null;
    }
    settings.blobs().requireReadable(blob);
    try {
      ByteBuffer bytes = settings.blobs().fetch(candidate.manifest, blob);
      String digest = Sha256.hex(bytes);
      if (!digest.equals(blob.digest())) {
        throw new IOException("its " + bytes.remaining() + " bytes have the digest " + digest);
      }
      return bytes;
    } catch (IOException e) {
      candidate.fetchesAgainMillis = nowMillis + FETCH_RETRY_MILLIS;
      complaints.add(
          "blob %s of sequence %d of set '%s' cannot be fetched: %s"
              .formatted(blob.digest(), candidate.sequence(), settings.setName(), e.getMessage()));
      return null;
    }
  }
}
