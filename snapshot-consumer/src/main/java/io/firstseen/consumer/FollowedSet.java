package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** Follows a set of keys on a topic or in a directory, until it is closed. */
public interface FollowedSet extends AutoCloseable {
  /**
   * Returns the state, the snapshot and the newest problem at one moment. Does not acquire a lock.
   */
  ClientStatus status();

  /**
   * Returns why no snapshot can be used with the configuration of this object, such as its hash
   * key; empty if a snapshot is active or may still become active.
   */
  default Optional<String> unusable() {
    return Optional.empty();
  }

  /**
   * Returns the manifests that were published before the first active snapshot, oldest first; empty
   * if they are not known.
   */
  default List<Manifest> earlier() {
    return List.of();
  }

  /**
   * Returns the bytes of a blob of the set, read-only and with their digest checked; for programs
   * that forward blobs. Empty if this object cannot provide them, for example because it follows a
   * topic.
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
