package io.firstseen.filters.snapshot;

import org.jspecify.annotations.Nullable;

/**
 * A blob as a manifest names it: a {@link Snapshot}, which can be read alone, or a delta, which
 * changes one set into another.
 *
 * @param digest the SHA-256 of the blob's bytes, as hexadecimal digits; it is the name of the blob
 * @param bytes the length of the blob
 * @param count the number of values of the set that it leads to
 * @param setDigest the digest of that set, {@link SnapshotHeader#setDigest}
 * @param parentSetDigest the digest of the set that a delta changes; null for a snapshot
 * @param sequence its {@link SnapshotParameters#sequence}, at most that of the manifest
 */
public record BlobReference(
    String digest,
    long bytes,
    long count,
    String setDigest,
    @Nullable String parentSetDigest,
    long sequence) {

  /** Refuses numbers out of range and malformed digests. */
  public BlobReference {
    Sha256.require("digest", digest);
    Sha256.require("setDigest", setDigest);
    if (parentSetDigest != null) {
      Sha256.require("parentSetDigest", parentSetDigest);
    }
    if (bytes < 1 || bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("bytes must be in [1, 2^31), got " + bytes);
    }
    Manifest.requireCount(count);
    SnapshotParameters.requireSequence(sequence);
  }

  /** A reference to a snapshot, which has no parent. */
  public BlobReference(String digest, long bytes, long count, String setDigest, long sequence) {
    this(digest, bytes, count, setDigest, null, sequence);
  }

  /** The reference to a snapshot. */
  public static BlobReference to(Snapshot snapshot) {
    return to(snapshot.digest(), snapshot.asByteBuffer().remaining(), snapshot.header());
  }

  /** The reference to a delta. */
  public static BlobReference to(SnapshotDelta delta) {
    return to(delta.digest(), delta.asByteBuffer().remaining(), delta.header());
  }

  private static BlobReference to(String digest, long bytes, SnapshotHeader header) {
    return new BlobReference(
        digest,
        bytes,
        header.count(),
        header.setDigest(),
        header.parentDigest(),
        header.parameters().sequence());
  }

  /** Whether the blob is a delta. */
  public boolean isDelta() {
    return parentSetDigest != null;
  }
}
