package io.firstseen.filters.snapshot;

/**
 * A blob as a manifest names it.
 *
 * @param digest the SHA-256 of the blob's bytes, as hexadecimal digits: its name everywhere
 * @param bytes the length of the blob
 * @param count the number of its values
 * @param setDigest its {@link SnapshotHeader#setDigest}
 * @param sequence its {@link SnapshotParameters#sequence}, at most that of the manifest
 */
public record BlobReference(
    String digest, long bytes, long count, String setDigest, long sequence) {

  /** Refuses numbers out of range and digests that are none. */
  public BlobReference {
    Sha256.require("digest", digest);
    Sha256.require("setDigest", setDigest);
    if (bytes < 1 || bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("bytes must be in [1, 2^31), got " + bytes);
    }
    Manifest.requireCount(count);
    SnapshotParameters.requireSequence(sequence);
  }

  /** The reference to a snapshot. */
  public static BlobReference to(Snapshot snapshot) {
    SnapshotHeader header = snapshot.header();
    return new BlobReference(
        snapshot.digest(),
        snapshot.asByteBuffer().remaining(),
        header.count(),
        header.setDigest(),
        header.parameters().sequence());
  }
}
