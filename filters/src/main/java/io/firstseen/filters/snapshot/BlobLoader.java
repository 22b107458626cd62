package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Loads the blobs of a manifest. */
@FunctionalInterface
public interface BlobLoader {
  /**
   * Returns the bytes of a blob, from the buffer's position to its limit. They must not change
   * afterwards. The caller checks length and digest.
   *
   * @throws IOException if the blob cannot be loaded
   */
  ByteBuffer load(BlobReference blob) throws IOException;
}
