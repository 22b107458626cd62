package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * All shards of a manifest, opened: answers whether a key was live at the end of the manifest's
 * window. A live key is always answered by 'present'; a strange one with a probability of at most
 * the set's false-positive rate. Immutable and safe for use by many threads; nothing needs closing.
 */
public final class SnapshotSet {
  private final Manifest manifest;
  // Null for a shard that never held a key.
  private final Snapshot[] snapshots;

  private SnapshotSet(Manifest manifest, Snapshot[] snapshots) {
    this.manifest = manifest;
    this.snapshots = snapshots;
  }

  /**
   * Opens the blobs of a manifest, and checks each one's length and digest, its header against the
   * manifest, and all that {@link Snapshot#read(ByteBuffer)} checks.
   *
   * @throws MalformedSnapshotException if a blob is not what the manifest says
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws IOException what the loader throws
   */
  public static SnapshotSet open(Manifest manifest, BlobLoader loader) throws IOException {
    requireBasesAlone(manifest);
    Map<String, Snapshot> opened = new HashMap<>();
    for (ManifestShard shard : manifest.shards()) {
      if (shard.base() != null) {
        opened.put(shard.base().digest(), open(shard, loader.load(shard.base())));
      }
    }
    return of(manifest, opened);
  }

  /**
   * A set of snapshots that are open already, perhaps from an earlier manifest. Checks each one's
   * header against the manifest; that their bytes have the digests is for the caller to know.
   *
   * @param snapshots at least every blob of the manifest, by digest
   * @throws MalformedSnapshotException if a snapshot is not what the manifest says
   * @throws UnsupportedSnapshotException if a newer reader is needed
   * @throws IllegalArgumentException if a blob of the manifest is not among them
   */
  public static SnapshotSet of(Manifest manifest, Map<String, Snapshot> snapshots)
      throws SnapshotException {
    requireBasesAlone(manifest);
    Snapshot[] ofShards = new Snapshot[manifest.parameters().shards().count()];
    for (ManifestShard shard : manifest.shards()) {
      if (shard.base() != null) {
        Snapshot snapshot = snapshots.get(shard.base().digest());
        if (snapshot == null) {
          throw new IllegalArgumentException(
              "snapshots must hold every blob of the manifest, " + name(shard) + " is missing");
        }
        requireAgreement(manifest, shard, snapshot.header());
        ofShards[shard.shard()] = snapshot;
      }
    }
    return new SnapshotSet(manifest, ofShards);
  }

  /**
   * Opens a set in a {@link SnapshotDirectory}.
   *
   * @param sequence which manifest; the newest if empty
   * @throws SnapshotException if the directory, the manifest or a blob is missing, too
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
  public Snapshot snapshot(int shard) {
    return snapshots[shard];
  }

  /** Whether the set holds a hash, or another one of the same value. Allocates nothing. */
  public boolean mightContain(long hash) {
    Snapshot snapshot = snapshots[manifest.parameters().shards().shardOf(hash)];
    return snapshot != null && snapshot.mightContain(hash);
  }

  /** Like {@link #mightContainKey(byte[], byte[], KeyHash)}, without a scope. */
  public boolean mightContainKey(byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    return mightContainKey(null, key, keyHash);
  }

  /**
   * Whether the set holds a key. What is thrown is what {@link SetParameters#hash} throws.
   *
   * @param scopeOrNull the scope; null or empty means none
   * @param key the key as a user has it; it is canonicalised here
   */
  public boolean mightContainKey(byte[] scopeOrNull, byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    return mightContain(manifest.parameters().hash(scopeOrNull, key, keyHash));
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

  private static Snapshot open(ManifestShard shard, ByteBuffer bytes) throws SnapshotException {
    BlobReference blob = shard.base();
    requireThat(
        bytes.remaining() == blob.bytes(),
        name(shard) + " must have " + blob.bytes() + " bytes, got " + bytes.remaining());
    String digest = Sha256.hex(bytes);
    requireThat(
        digest.equals(blob.digest()),
        name(shard) + " is damaged: its bytes have the digest " + digest);
    try {
      return Snapshot.read(bytes);
    } catch (SnapshotException e) {
      throw e.at(name(shard));
    }
  }

  private static void requireBasesAlone(Manifest manifest) throws UnsupportedSnapshotException {
    for (ManifestShard shard : manifest.shards()) {
      if (!shard.deltas().isEmpty()) {
        throw new UnsupportedSnapshotException(
            "shard " + shard.shard() + " has deltas, this program reads bases alone");
      }
    }
  }

  private static void requireAgreement(
      Manifest manifest, ManifestShard shard, SnapshotHeader header)
      throws MalformedSnapshotException {
    BlobReference blob = shard.base();
    SnapshotParameters parameters = header.parameters();
    String name = name(shard);
    requireAgreement(name, "set name", manifest.setName(), parameters.setName());
    requireAgreement(name, "parameters", manifest.parameters(), parameters.set());
    requireAgreement(name, "shard", shard.shard(), parameters.shard());
    requireAgreement(name, "sequence", blob.sequence(), parameters.sequence());
    requireAgreement(name, "count", blob.count(), header.count());
    requireAgreement(name, "set digest", blob.setDigest(), header.setDigest());
  }

  private static String name(ManifestShard shard) {
    return "blob " + shard.base().digest() + " of shard " + shard.shard();
  }

  private static void requireAgreement(String name, String what, Object expected, Object found)
      throws MalformedSnapshotException {
    requireThat(
        expected.equals(found),
        name + " must have the " + what + " of the manifest, " + expected + ", got " + found);
  }
}
