package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** A set of keys that is followed until this is closed: on a topic, or in a directory. */
public interface FollowedSet extends AutoCloseable {
  /** State, snapshot and newest complaint of one moment. Takes no lock. */
  ClientStatus status();

  /**
   * The manifests that were published before the first snapshot that answered here, oldest first;
   * empty if they are not known.
   */
  default List<Manifest> earlier() {
    return List.of();
  }

  /**
   * The bytes of a blob that the manifest of what answers names, read-only and with their digest
   * checked; for programs that pass blobs on. Empty if they cannot be had from here.
   *
   * @param digest the SHA-256 of the blob, 64 hexadecimal digits
   */
  default Optional<ByteBuffer> blob(String digest) {
    return Optional.empty();
  }

  /** Stops following. */
  @Override
  void close();
}
