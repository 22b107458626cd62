package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * A place that holds manifests and blobs of a set as files, such as a directory: announces the
 * sequences and delivers the files. Only {@link #find} checks a digest. {@link #place} and {@link
 * #find} may be called by any thread, the other methods only by the following thread.
 */
public interface SnapshotSource {

  /** The place, as messages name it. */
  String place();

  /**
   * The sequences that are published now, ascending.
   *
   * @throws SnapshotException if the place cannot be read now; its message is reported once for
   *     each outage
   */
  List<Long> sequences() throws SnapshotException;

  /**
   * Differs from an earlier value if the manifest of a sequence was written again.
   *
   * @throws IOException if there is no such manifest
   */
  Object version(long sequence) throws IOException;

  /** The bytes of a manifest as they were published. */
  byte[] manifest(long sequence) throws IOException;

  /** Loads the blobs that a manifest needs. */
  BlobLoader blobs(Manifest manifest);

  /**
   * The bytes of a blob of the set, read-only and with their digest checked; empty if there is
   * none.
   *
   * @param manifest the manifest of the active snapshot
   */
  Optional<ByteBuffer> find(Manifest manifest, String digest);
}
