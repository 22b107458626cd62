package io.firstseen.server;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.server.http.RequestObserver;

/** Receives the events of a {@link SnapshotServer}. Called by several threads at a time. */
public interface ServiceLog extends RequestObserver {
  /** A snapshot answers from now on. */
  default void onSnapshot(String set, Manifest manifest) {}

  /**
   * Something cannot be used or reached; the current snapshot keeps answering.
   *
   * @param reason one sentence
   */
  default void onTrouble(String set, String reason) {}

  /** The topic or directory can be read again. */
  default void onReachable(String set) {}
}
