package io.firstseen.server;

import io.firstseen.consumer.FollowedDirectory;
import io.firstseen.consumer.FollowedSet;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.internal.FirstSnapshot;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.TrustedKey;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The source of a set. */
public sealed interface SetSource {

  /** Returns the name of the set. */
  String setName();

  /** Returns the publisher's hash function and key. */
  KeyHash keyHash();

  /**
   * Returns when to expect the first snapshot, as a clause for messages.
   *
   * @param window the window and the idle timeout of the snapshot job together, if they are known
   */
  String firstSnapshot(Optional<Duration> window);

  /**
   * Creates the source of a set on a topic. One consumer reads all sets of a topic.
   *
   * @param options options of the client; their listener is replaced
   */
  static SetSource topic(SnapshotClientOptions.Builder options) {
    return new OnTopic(options.build(), options);
  }

  /**
   * Creates the source of a set in a snapshot directory, which is polled once per second.
   *
   * @param trustedKeys manifests that are not signed by one of these keys are rejected; empty to
   *     accept all manifests
   * @param staleAfter the age of its manifest at which a snapshot becomes stale; if empty, a
   *     snapshot becomes stale only when its manifest expires
   */
  static SetSource directory(
      Path directory,
      String setName,
      KeyHash keyHash,
      List<TrustedKey> trustedKeys,
      Optional<Duration> staleAfter) {
    return new OfFiles(
        FollowedDirectory.builder(directory, setName), setName, keyHash, trustedKeys, staleAfter);
  }

  /**
   * Creates the source of a set in a snapshot directory on a web server, which is polled every ten
   * seconds. See {@link #directory} for the other parameters.
   *
   * @param address the address of the directory, with http or https
   */
  static SetSource address(
      URI address,
      String setName,
      KeyHash keyHash,
      List<TrustedKey> trustedKeys,
      Optional<Duration> staleAfter) {
    return new OfFiles(
        FollowedDirectory.builder(address, setName), setName, keyHash, trustedKeys, staleAfter);
  }

  /** A set in files, which one thread polls. */
  record OfFiles(String setName, KeyHash keyHash, FollowedDirectory.Builder builder)
      implements SetSource {
    OfFiles(
        FollowedDirectory.Builder builder,
        String setName,
        KeyHash keyHash,
        List<TrustedKey> trustedKeys,
        Optional<Duration> staleAfter) {
      this(setName, keyHash, builder.keyHash(keyHash).trustedKeys(trustedKeys));
      staleAfter.ifPresent(builder::staleAfter);
    }

    @Override
    public String firstSnapshot(Optional<Duration> window) {
      return "the directory that the service follows holds none";
    }

    FollowedSet follow(SnapshotListener listener) {
      return builder.listener(listener).start();
    }
  }

  /** See {@link #topic}. */
  record OnTopic(SnapshotClientOptions checked, SnapshotClientOptions.Builder builder)
      implements SetSource {
    @Override
    public String setName() {
      return checked.setName();
    }

    @Override
    public KeyHash keyHash() {
      return checked.keyHash();
    }

    @Override
    public String firstSnapshot(Optional<Duration> window) {
      return FirstSnapshot.expected(window);
    }

    /** Returns a value that is equal for sets that one consumer can read. */
    Object consumer() {
      return List.of(checked.bootstrapServers(), checked.topic(), checked.kafkaProperties());
    }

    SnapshotClientOptions heardBy(SnapshotListener listener) {
      return builder.listener(listener).build();
    }
  }
}
