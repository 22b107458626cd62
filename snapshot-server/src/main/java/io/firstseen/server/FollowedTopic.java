package io.firstseen.server;

import io.firstseen.consumer.ClientStatus;
import io.firstseen.consumer.SnapshotClient;

/** A set on a topic. */
record FollowedTopic(SnapshotClient client) implements FollowedSet {
  @Override
  public ClientStatus status() {
    return client.status();
  }

  @Override
  public void close() {
    client.close();
  }
}
