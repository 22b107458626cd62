package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** Follows a set of keys on a topic or in a directory, until it is closed. */
public interface FollowedSet extends AutoCloseable {
  /** The state, the snapshot and the newest problem at one moment. Takes no lock. */
  ClientStatus status();

  /**
   * Why no snapshot can answer with the configuration of this object, such as its hash key; empty
   * if one answers or may still answer.
   */
  default Optional<String> unusable() {
    return Optional.empty();
  }

  /**
   * The manifests that were published before the first snapshot that answered, oldest first; empty
   * if they are not known.
   */
  default List<Manifest> earlier() {
    return List.of();
  }

  /**
   * The bytes of a blob of the set, read-only and with their digest checked; for programs that pass
   * blobs on. Empty if this object cannot provide them, as that of a topic.
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
