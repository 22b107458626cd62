package io.firstseen.filters.snapshot;

import static io.firstseen.filters.snapshot.SnapshotFormat.requireThat;

import java.nio.ByteBuffer;

/**
 * A reference to a blob: a {@link Pack}, a {@link Base} or a {@link BaseList}.
 *
 * @param digest the SHA-256 of the blob's bytes, as hexadecimal digits
 * @param bytes the length of the blob
 */
public record BlobReference(String digest, long bytes) {

  /** Rejects a length that is out of range and a malformed digest. */
  public BlobReference {
    Sha256.require("digest", digest);
    if (bytes < 1 || bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("bytes must be in [1, 2^31), got " + bytes);
    }
  }

  /** Returns the reference to a blob. */
  public static BlobReference to(byte[] blob) {
    return new BlobReference(Sha256.hex(blob), blob.length);
  }

  /**
   * Checks that bytes are the content of the blob.
   *
   * @param blob the remaining bytes of the buffer
   * @throws MalformedSnapshotException if length or digest differ
   */
  public void requireBytes(ByteBuffer blob) throws MalformedSnapshotException {
    requireThat(
        blob.remaining() == bytes,
        "blob " + digest + " must have " + bytes + " bytes, got " + blob.remaining());
    String found = Sha256.hex(blob);
    requireThat(
        found.equals(digest), "blob " + digest + " is damaged: its bytes have the digest " + found);
  }
}
