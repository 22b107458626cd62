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
   * @throws MissingBlobsException if the blob does not exist (yet or any more)
   * @throws IOException if the blob cannot be loaded
   */
  ByteBuffer load(BlobReference blob) throws IOException;

  /** Returns the overhead of a request, in bytes, in addition to the bytes of the blob. */
  default long requestBytes() {
    return 0;
  }
}
