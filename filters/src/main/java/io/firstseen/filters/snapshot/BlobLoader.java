package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Loads the blobs of a set. */
@FunctionalInterface
public interface BlobLoader {
  /**
   * Returns the bytes of a blob, from the buffer's position to its limit. They must not change
   * afterwards. The caller checks length and digest.
   *
   * @throws MissingBlobsException if the blob is not there (now)
   * @throws IOException if the blob cannot be loaded
   */
  ByteBuffer load(BlobReference blob) throws IOException;

  /** What a request costs besides the bytes of its blob, in bytes. */
  default long requestBytes() {
    return 0;
  }
}
