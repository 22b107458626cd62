package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Where the blobs of a manifest come from. */
@FunctionalInterface
public interface BlobLoader {
  /**
   * The bytes of a blob, from the buffer's position to its limit; they must not change any more.
   * The caller checks length and digest.
   *
   * @throws IOException if they cannot be had
   */
  ByteBuffer load(BlobReference blob) throws IOException;
}
