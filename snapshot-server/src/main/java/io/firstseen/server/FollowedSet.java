package io.firstseen.server;

import io.firstseen.consumer.ClientStatus;
import io.firstseen.filters.snapshot.Manifest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** One set that something follows, from now until it is closed. */
public interface FollowedSet extends AutoCloseable {
  /** What answers at the moment. Takes no lock. */
  ClientStatus status();

  /** What was published before the first snapshot that answered here, oldest first, if known. */
  default List<Manifest> earlier() {
    return List.of();
  }

  /**
   * A blob that the manifest of what answers names and that {@link #status} does not hold: a delta,
   * or a base that deltas follow. Its digest was checked.
   */
  default Optional<ByteBuffer> blob(String digest) {
    return Optional.empty();
  }

  @Override
  void close();
}
