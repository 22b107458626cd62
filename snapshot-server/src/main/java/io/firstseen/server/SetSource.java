package io.firstseen.server;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.TrustedKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Where a set comes from.
 *
 * @param setName the name of the set
 * @param keyHash the hash, with its key, under which the publisher hashes
 * @param follow begins to follow and tells a listener of snapshots and trouble
 */
public record SetSource(
    String setName, KeyHash keyHash, Function<SnapshotListener, FollowedSet> follow) {

  private static final Duration POLL = Duration.ofSeconds(1);

  /** A set on a topic. A listener of the options is replaced. */
  public static SetSource topic(SnapshotClientOptions.Builder options) {
    SnapshotClientOptions checked = options.build();
    return new SetSource(
        checked.setName(),
        checked.keyHash(),
        listener -> new FollowedTopic(SnapshotClient.start(options.listener(listener).build())));
  }

  /**
   * A set in a snapshot directory, which is looked at once a second.
   *
   * @param trustedKeys manifests that none of them has signed are refused; empty to take all
   * @param staleAfter the age of its manifest from which on a snapshot is stale; empty means never
   */
  public static SetSource directory(
      Path directory,
      String setName,
      KeyHash keyHash,
      List<TrustedKey> trustedKeys,
      Optional<Duration> staleAfter) {
    return directory(directory, setName, keyHash, trustedKeys, staleAfter, POLL);
  }

  static SetSource directory(
      Path directory,
      String setName,
      KeyHash keyHash,
      List<TrustedKey> trustedKeys,
      Optional<Duration> staleAfter,
      Duration poll) {
    return new SetSource(
        setName,
        keyHash,
        listener ->
            FollowedDirectory.start(
                directory, setName, keyHash, trustedKeys, staleAfter, poll, listener));
  }
}
