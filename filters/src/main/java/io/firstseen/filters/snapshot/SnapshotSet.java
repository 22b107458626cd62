package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.gcs.QueryBatch;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.EqualBands;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The opened snapshots of all shards of a manifest. Queries return whether a key was live at the
 * end of the manifest's window. A live key is always reported as present; any other key is reported
 * as present with a probability of at most the set's false-positive rate. Immutable and safe for
 * use by many threads; does not have to be closed.
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
   * Loads the set of a manifest from its bases and the packs since the bases, with the checks of
   * {@link CatchUp#to}.
   *
   * @throws MalformedSnapshotException if a blob contradicts the manifest
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws IOException if the loader throws it
   */
  public static SnapshotSet open(Manifest manifest, BlobLoader loader) throws IOException {
    return CatchUp.to(manifest, List.of(), loader).set();
  }

  /**
   * Creates a set of snapshots that are already open.
   *
   * @param newest the snapshot of each shard; null for a shard that never held a key
   * @throws MalformedSnapshotException if they do not have the root and the count of the manifest
   */
  public static SnapshotSet of(Manifest manifest, @Nullable Snapshot[] newest)
      throws SnapshotException {
    int shards = manifest.parameters().shards().count();
    if (newest.length != shards) {
      throw new IllegalArgumentException(
          "there must be " + shards + " snapshots, got " + newest.length);
    }
    List<ShardTree.Leaf> leaves = new ArrayList<>();
    long count = 0;
    for (int shard = 0; shard < shards; shard++) {
      Snapshot snapshot = newest[shard];
      leaves.add(ShardTree.Leaf.of(snapshot));
      if (snapshot != null) {
        SnapshotParameters parameters = snapshot.header().parameters();
        requireThat(
            parameters.setName().equals(manifest.setName())
                && parameters.set().equals(manifest.parameters())
                && parameters.shard() == shard,
            "the snapshot of shard " + shard + " must have the parameters of the manifest");
        count += snapshot.header().hashCount();
      }
    }
    String root = ShardTree.root(leaves);
    requireThat(
        root.equals(manifest.root()),
        "the shards must have the root of the manifest, " + manifest.root() + ", got " + root);
    requireThat(
        count == manifest.count(),
        "the shards must have the count of the manifest, " + manifest.count() + ", got " + count);
    return new SnapshotSet(manifest, newest.clone());
  }

  /**
   * Opens a set in a {@link SnapshotDirectory}.
   *
   * @param sequence the sequence of the manifest; the newest manifest if empty
   * @throws SnapshotException if the directory, the manifest or a blob is missing or not valid
   */
  public static SnapshotSet openDirectory(Path directory, OptionalLong sequence)
      throws IOException {
    SnapshotDirectory source = new SnapshotDirectory(directory);
    Manifest manifest =
        sequence.isPresent() ? source.manifest(sequence.getAsLong()) : source.latest();
    return open(manifest, blob -> source.blob(manifest, blob));
  }

  /** Returns the manifest. */
  public Manifest manifest() {
    return manifest;
  }

  /** Returns the snapshots of all shards in a new array; null for a shard without a snapshot. */
  @Nullable Snapshot[] snapshots() {
    return snapshots.clone();
  }

  /** Returns the snapshot of a shard; null if the shard never held a key. */
  public @Nullable Snapshot snapshot(int shard) {
    return snapshots[shard];
  }

  /**
   * Returns whether the set holds a hash, or another hash with the same value. Allocates nothing.
   */
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

  /** Passes on the tags of the live texts with a band. */
  void textTags(long band, EqualBands found) {
    Snapshot snapshot = snapshotOf(band);
    if (snapshot != null) {
      snapshot.textTags(band, found);
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
   * Returns whether the set holds a key. Throws the same exceptions as {@link SetParameters#hash}.
   *
   * @param scope the scope; null or empty means none
   * @param key the key before canonicalisation; this method canonicalises it
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
