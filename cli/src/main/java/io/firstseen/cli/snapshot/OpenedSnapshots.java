package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The subject of a snapshot verb: one blob, or all shards of a directory's manifest. */
final class OpenedSnapshots {
  private final Path path;
  // Exactly one of the two is set.
  private final Snapshot blob;
  private final SnapshotSet set;

  private OpenedSnapshots(Path path, Snapshot blob, SnapshotSet set) {
    this.path = path;
    this.blob = blob;
    this.set = set;
  }

  /**
   * Reads a delta from a path; empty if the file is not a delta.
   *
   * @param sequence the manifest that was asked for; null if none, as for a delta
   * @throws MalformedSnapshotException if it is damaged
   * @throws IOException if it cannot be read
   */
  static Optional<SnapshotDelta> delta(Path path, @Nullable Long sequence) throws IOException {
    return Files.isDirectory(path) || sequence != null || !SnapshotHeader.read(path).isDelta()
        ? Optional.empty()
        : Optional.of(SnapshotDelta.read(path));
  }

  /**
   * Opens a file as a blob, a directory by its manifest.
   *
   * @param sequence which manifest of a directory; null for the newest
   * @throws MalformedSnapshotException if it is damaged; a missing blob that the manifest names
   *     counts as damage
   * @throws SnapshotException if it cannot be read, or its format is unknown
   */
  static OpenedSnapshots open(Path path, @Nullable Long sequence) throws IOException {
    if (!Files.isDirectory(path)) {
      if (sequence != null) {
        throw new UserErrorException(
            "--sequence chooses among the manifests of a directory, which " + path + " is not");
      }
      return new OpenedSnapshots(path, Snapshot.read(path), null);
    }
    SnapshotDirectory directory = new SnapshotDirectory(path);
    Manifest manifest = sequence == null ? directory.latest() : directory.manifest(sequence);
    return new OpenedSnapshots(
        path, null, SnapshotSet.open(manifest, reference -> load(directory, manifest, reference)));
  }

  private static ByteBuffer load(
      SnapshotDirectory directory, Manifest manifest, BlobReference reference) throws IOException {
    try {
      return directory.blob(manifest, reference);
    } catch (SnapshotException e) {
      if (e.getCause() instanceof NoSuchFileException) {
        throw missing(manifest.blobs() == null ? directory.path() : manifest.blobs(), reference, e);
      }
      throw e;
    }
  }

  private static MalformedSnapshotException missing(
      Object place, BlobReference reference, IOException e) {
    return new MalformedSnapshotException(
        place + ": the blob " + reference.digest() + " is missing", e);
  }

  /** The blob; null if it is a directory. */
  @Nullable Snapshot blob() {
    return blob;
  }

  /** The manifest of the directory; null if it is a blob. */
  @Nullable Manifest manifest() {
    return set == null ? null : set.manifest();
  }

  /**
   * The changes from this to another.
   *
   * @throws UserErrorException if the two cannot be compared
   */
  SnapshotDifference difference(OpenedSnapshots there) {
    if ((blob == null) != (there.blob == null)) {
      throw new UserErrorException(
          "two blobs or two directories can be compared, got one of each: "
              + path
              + " and "
              + there.path);
    }
    requireSame(there, "set", setName(), there.setName());
    requireSame(there, "parameters", parameters(), there.parameters());
    if (blob != null) {
      requireSame(
          there,
          "shard",
          blob.header().parameters().shard(),
          there.blob.header().parameters().shard());
      return SnapshotDifference.of(blob, there.blob);
    }
    SnapshotDifference all = SnapshotDifference.none();
    for (int shard = 0; shard < parameters().shards().count(); shard++) {
      all = all.plus(SnapshotDifference.of(set.snapshot(shard), there.set.snapshot(shard)));
    }
    return all;
  }

  private String setName() {
    return blob != null ? blob.header().parameters().setName() : set.manifest().setName();
  }

  private void requireSame(OpenedSnapshots there, String what, Object here, Object other) {
    if (!here.equals(other)) {
      throw new UserErrorException(
          path
              + " and "
              + there.path
              + " must have the same "
              + what
              + ", "
              + here
              + " is not "
              + other);
    }
  }

  /** The figures to print. */
  SnapshotSummary summary() {
    return blob != null ? SnapshotSummary.of(blob) : SnapshotSummary.of(set);
  }

  /** The parameters that turn a key into the hash that the snapshots hold. */
  SetParameters parameters() {
    return blob != null ? blob.header().parameters().set() : set.manifest().parameters();
  }

  /**
   * Whether the key is held. Also throws what {@link SetParameters#hash} throws.
   *
   * @throws UserErrorException if the key belongs to a shard other than that of the blob
   */
  boolean mightContain(byte @Nullable [] scope, byte[] key, KeyHash keyHash)
      throws InvalidKeyException, SnapshotException {
    long hash = parameters().hash(scope, key, keyHash);
    if (set != null) {
      return set.mightContain(hash);
    }
    SnapshotParameters own = blob.header().parameters();
    int shard = own.set().shards().shardOf(hash);
    if (shard != own.shard()) {
      throw new UserErrorException(
          String.format(
              "%s holds shard %d of %d and a key of shard %d was asked for;"
                  + " query the directory that holds all shards",
              path, own.shard(), own.set().shards().count(), shard));
    }
    return blob.mightContain(hash);
  }

  /**
   * Decodes everything and checks every blob that the manifest names, see {@link
   * ManifestBlobs#verify}.
   */
  void verify() throws IOException {
    if (blob != null) {
      blob.verify();
    } else {
      SnapshotDirectory directory = new SnapshotDirectory(path);
      ManifestBlobs.verify(set.manifest(), reference -> load(directory, set.manifest(), reference));
    }
  }
}
