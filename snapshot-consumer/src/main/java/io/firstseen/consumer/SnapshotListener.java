package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;

/**
 * Receives the events of a {@link SnapshotClient} or a {@link FollowedDirectory}. For a directory,
 * read "directory" instead of "topic". The thread that follows the topic calls all methods, in
 * order. A slow method delays the next snapshot but not queries. If a method throws, the exception
 * is logged and otherwise ignored.
 */
public interface SnapshotListener {

  /** Called when a verified snapshot becomes active. */
  default void onSnapshot(Manifest manifest) {}

  /**
   * Called when a verified snapshot becomes active, with more details than {@link #onSnapshot}. The
   * default implementation calls {@link #onSnapshot}.
   */
  default void onUpdate(SnapshotUpdate update) {
    onSnapshot(update.manifest());
  }

  /**
   * Called a few times per second while the topic or a blob is being read and its end has not been
   * reached.
   *
   * @param readBytes bytes read since the end was last reached
   * @param left the approximate number of remaining records of the topic
   */
  default void onProgress(long readBytes, long left) {}

  /**
   * Called with a notice that does not require immediate action, for example that the topic was
   * recreated or that the cache cannot be written. Following continues.
   *
   * @param sentence the notice
   */
  default void onNotice(String sentence) {}

  /**
   * Called once for each manifest or blob on the topic that cannot be used; the last valid
   * snapshot, if any, stays active.
   *
   * @param reason the reason
   */
  default void onRefused(String reason) {}

  /** Called when the client enters a state other than {@link ClientState#CLOSED}. */
  default void onState(ClientState state) {}

  /**
   * Called once per outage in which the topic cannot be read; the client keeps retrying.
   *
   * @param reason the reason
   */
  default void onUnreachable(String reason) {}

  /** Called when the topic can be read again. */
  default void onReachable() {}
}
