package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;

/**
 * Hears what a {@link SnapshotClient} or a {@link FollowedDirectory} does; for the latter, read
 * "directory" for "topic". All methods are called by the one thread that follows, in order; one
 * that takes long delays the next snapshot, never a query. What a method throws is logged and
 * otherwise ignored.
 */
public interface SnapshotListener {

  /** A snapshot was verified; queries are answered from it from now on. */
  default void onSnapshot(Manifest manifest) {}

  /** Like {@link #onSnapshot}, which it calls unless it is overridden, with more about it. */
  default void onUpdate(SnapshotUpdate update) {
    onSnapshot(update.manifest());
  }

  /**
   * The topic, or a blob, is being read and its end has not been reached. Called some times a
   * second.
   *
   * @param readBytes bytes read since the end was reached last
   * @param left records of the topic that are left, about
   */
  default void onProgress(long readBytes, long left) {}

  /**
   * Something that one should know and that stops nothing: the topic was created anew, the cache
   * cannot be written.
   *
   * @param sentence one sentence
   */
  default void onNotice(String sentence) {}

  /**
   * Something on the topic cannot be used, and the last good snapshot, if any, goes on answering.
   * Called once for each thing refused.
   *
   * @param reason one sentence
   */
  default void onRefused(String reason) {}

  /** The client entered a state other than {@link ClientState#CLOSED}. */
  default void onState(ClientState state) {}

  /**
   * The topic cannot be read now; the client keeps trying. Called once for each outage.
   *
   * @param reason one sentence
   */
  default void onUnreachable(String reason) {}

  /** The topic can be read again. */
  default void onReachable() {}
}
