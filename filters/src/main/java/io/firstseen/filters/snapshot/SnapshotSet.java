package io.firstseen.filters.snapshot;

import io.firstseen.filters.gcs.QueryBatch;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The opened snapshots of all shards of a manifest. Answers whether a key was live at the end of
 * the manifest's window. For a live key the answer is always 'present'; for another key it is
 * 'present' with a probability of at most the set's false-positive rate. Immutable and safe for use
 * by many threads; need not be closed.
 */
public final class SnapshotSet {
  private final Manifest manifest;
  // Null for a shard that never held a key.
  private final @Nullable Snapshot[] snapshots;

  private SnapshotSet(Manifest manifest, Snapshot[] snapshots) {
    this.manifest = manifest;
    this.snapshots = snapshots;
  }

  /**
   * Loads the newest set of each shard from the fewest bytes: a base and the deltas behind it.
   * Checks the length, digest and header of each blob against the manifest, everything that {@link
   * Snapshot#read(ByteBuffer)} checks, and that each delta leads to the set of its digest.
   *
   * @throws MalformedSnapshotException if a blob contradicts the manifest
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws IOException if the loader throws it
   */
  public static SnapshotSet open(Manifest manifest, BlobLoader loader) throws IOException {
    Snapshot[] newest = new Snapshot[manifest.shards().size()];
    for (ManifestShard shard : manifest.shards()) {
      CatchUpPlan plan = CatchUpPlan.of(shard, Optional.empty());
      newest[shard.shard()] =
          ManifestBlobs.catchUp(manifest, shard.shard(), plan, Optional.empty(), loader)
              .orElse(null);
    }
    return of(manifest, shard -> newest[shard]);
  }

  /**
   * A set of snapshots that are open already, perhaps from an earlier manifest. Checks only the
   * header of each snapshot against the manifest.
   *
   * @param newest shard to the snapshot of its newest set, whichever blobs it comes from; not
   *     called for shards that never held a key
   * @throws MalformedSnapshotException if a snapshot does not hold that set
   * @throws IllegalArgumentException if one is null
   */
  public static SnapshotSet of(Manifest manifest, IntFunction<Snapshot> newest)
      throws SnapshotException {
    Snapshot[] ofShards = new Snapshot[manifest.parameters().shards().count()];
    for (ManifestShard shard : manifest.shards()) {
      if (shard.base() != null) {
        Snapshot snapshot = newest.apply(shard.shard());
        if (snapshot == null) {
          throw new IllegalArgumentException(
              "there must be a snapshot of every shard with keys, that of shard "
                  + shard.shard()
                  + " is missing");
        }
        ManifestBlobs.requireNewest(manifest, shard, snapshot.header());
        ofShards[shard.shard()] = snapshot;
      }
    }
    return new SnapshotSet(manifest, ofShards);
  }

  /**
   * Like {@link #of(Manifest, IntFunction)}, with a map of snapshots.
   *
   * @param snapshots digest of a blob to the snapshot that it leads to, for each shard's {@link
   *     ManifestShard#newest}; others are ignored
   */
  public static SnapshotSet of(Manifest manifest, Map<String, Snapshot> snapshots)
      throws SnapshotException {
    return of(manifest, shard -> snapshots.get(manifest.shards().get(shard).newest().digest()));
  }

  /**
   * Opens a set in a {@link SnapshotDirectory}.
   *
   * @param sequence the sequence of the manifest; the newest if empty
   * @throws SnapshotException if the directory, the manifest or a blob is missing or not valid
   */
  public static SnapshotSet openDirectory(Path directory, OptionalLong sequence)
      throws IOException {
    SnapshotDirectory source = new SnapshotDirectory(directory);
    Manifest manifest =
        sequence.isPresent() ? source.manifest(sequence.getAsLong()) : source.latest();
    return open(manifest, source::blob);
  }

  /** The manifest. */
  public Manifest manifest() {
    return manifest;
  }

  /** The snapshot of a shard; null if the shard never held a key. */
  public @Nullable Snapshot snapshot(int shard) {
    return snapshots[shard];
  }

  /** Whether the set holds a hash, or another hash with the same value. Allocates nothing. */
  public boolean mightContain(long hash) {
    Snapshot snapshot = snapshotOf(hash);
    return snapshot != null && snapshot.mightContain(hash);
  }

  /**
   * Whether the set holds each of some hashes. The memory accesses of different hashes overlap, so
   * this is much faster than single queries if the set is larger than the processor's cache.
   * Allocates nothing.
   *
   * @param hashes in any order, repeats allowed
   * @param from the index to begin at
   * @param to the index to end before
   * @param found receives the answers, at the indices of the hashes
   */
  public void mightContainEach(long[] hashes, int from, int to, boolean[] found) {
    long[] positions = QueryBatch.positions();
    for (int begin = from; begin < to; begin += QueryBatch.QUERIES) {
      int end = Math.min(to, begin + QueryBatch.QUERIES);
      for (int i = begin; i < end; i++) {
        Snapshot snapshot = snapshotOf(hashes[i]);
        positions[i - begin] = snapshot == null ? 0 : snapshot.position(hashes[i]);
      }
      long touched = 0;
      for (int i = begin; i < end; i++) {
        Snapshot snapshot = snapshotOf(hashes[i]);
        touched |= snapshot == null ? 0 : snapshot.touch(positions[i - begin]);
      }
      for (int i = begin; i < end; i++) {
        // touched is never negative, but the compiler does not know this and must keep the reads.
        found[i] = mightContain(hashes[i]) || touched < 0;
      }
    }
  }

  private Snapshot snapshotOf(long hash) {
    return snapshots[manifest.parameters().shards().shardOf(hash)];
  }

  /** Like {@link #mightContainKey(byte[], byte[], KeyHash)}, without a scope. */
  public boolean mightContainKey(byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    return mightContainKey(null, key, keyHash);
  }

  /**
   * Whether the set holds a key. Throws the same exceptions as {@link SetParameters#hash}.
   *
   * @param scope the scope; null or empty means none
   * @param key the key as a user has it; it is canonicalised here
   */
  public boolean mightContainKey(byte @Nullable [] scope, byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    return mightContain(manifest.parameters().hash(scope, key, keyHash));
  }

  /**
   * Decodes every snapshot, see {@link Snapshot#verify}.
   *
   * @throws MalformedSnapshotException if one is not the canonical form of its set
   */
  public void verify() throws MalformedSnapshotException {
    for (int shard = 0; shard < snapshots.length; shard++) {
      if (snapshots[shard] != null) {
        try {
          snapshots[shard].verify();
        } catch (MalformedSnapshotException e) {
          throw e.at("shard " + shard);
        }
      }
    }
  }
}
