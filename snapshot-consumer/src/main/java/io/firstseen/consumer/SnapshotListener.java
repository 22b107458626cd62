package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;

/**
 * Is told what a {@link SnapshotClient} or a {@link FollowedDirectory} does; for the latter, read
 * "directory" for "topic". The following thread calls all methods, in order; a slow method delays
 * the next snapshot, never a query. An exception thrown by a method is logged and otherwise
 * ignored.
 */
public interface SnapshotListener {

  /** A snapshot was verified and answers queries from now on. */
  default void onSnapshot(Manifest manifest) {}

  /** Like {@link #onSnapshot}, which it calls unless it is overridden, with more about it. */
  default void onUpdate(SnapshotUpdate update) {
    onSnapshot(update.manifest());
  }

  /**
   * The topic or a blob is being read and its end has not been reached. Called a few times a
   * second.
   *
   * @param readBytes bytes read since the end was last reached
   * @param left roughly how many records of the topic are left
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
   * Something on the topic cannot be used; the last good snapshot, if any, keeps answering. Called
   * once for each refusal.
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
