package io.firstseen.server;

import io.firstseen.consumer.ClientStatus;
import io.firstseen.filters.snapshot.Manifest;
import java.util.List;

/** One set that something follows, from now until it is closed. */
public interface FollowedSet extends AutoCloseable {
  /** What answers at the moment. Takes no lock. */
  ClientStatus status();

  /** What was published before the first snapshot that answered here, oldest first, if known. */
  default List<Manifest> earlier() {
    return List.of();
  }

  @Override
  void close();
}
