package io.firstseen.server;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.server.http.RequestObserver;

/** Receives the events of a {@link SnapshotServer}. Called by several threads at a time. */
public interface ServiceLog extends RequestObserver {
  /** Called when a snapshot has become active. */
  default void onSnapshot(String set, Manifest manifest) {}

  /**
   * Called when a manifest, blob or source cannot be used; the current snapshot stays active.
   *
   * @param reason the reason
   */
  default void onTrouble(String set, String reason) {}

  /** Called when the topic or directory can be read again. */
  default void onReachable(String set) {}
}
