package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;

/**
 * Receives the events of a {@link SnapshotClient} or a {@link FollowedDirectory}. For a directory,
 * read "directory" where a method says "topic". One thread calls all methods, in order: the one
 * that follows the topic. A slow method delays the next snapshot but no query. If a method throws,
 * the exception is logged and otherwise ignored.
 */
public interface SnapshotListener {

  /** A snapshot was verified and answers queries from now on. */
  default void onSnapshot(Manifest manifest) {}

  /**
   * A snapshot was verified and answers queries from now on. The argument has more details than
   * that of {@link #onSnapshot}, which is called unless this method is overridden.
   */
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
   * A notice that needs no action at once, for example that the topic was created anew or that the
   * cache cannot be written. Following continues.
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
