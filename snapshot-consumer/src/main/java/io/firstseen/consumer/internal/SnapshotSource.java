package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * A location that contains manifests and blobs of a set as files, such as a directory: lists the
 * sequences and provides the files. Only {@link #find} checks a digest. {@link #place} and {@link
 * #find} may be called by any thread, the other methods only by the following thread.
 */
public interface SnapshotSource {

  /** Returns the name of the location for messages. */
  String place();

  /**
   * Returns the currently published sequences, ascending.
   *
   * @throws SnapshotException if the location cannot be read now; its message is reported once per
   *     outage
   */
  List<Long> sequences() throws SnapshotException;

  /**
   * Returns the version of a manifest, which changes if the manifest of a sequence is written
   * again.
   *
   * @throws IOException if there is no manifest of this sequence
   */
  Object version(long sequence) throws IOException;

  /** Returns the published bytes of a manifest. */
  byte[] manifest(long sequence) throws IOException;

  /** Loads the blobs that a manifest needs. */
  BlobLoader blobs(Manifest manifest);

  /**
   * Returns the bytes of a blob of the set, read-only and with their digest checked; empty if the
   * blob does not exist.
   *
   * @param manifest the manifest of the active snapshot
   */
  Optional<ByteBuffer> find(Manifest manifest, String digest);
}
