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
    return new InDirectory(
        directory, setName, keyHash, trustedKeys, staleAfter, Duration.ofSeconds(1));
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
    return new AtAddress(address, setName, keyHash, trustedKeys, staleAfter);
  }

  /** A source of files, which one thread polls. */
  sealed interface OfFiles extends SetSource {
    List<TrustedKey> trustedKeys();

    Optional<Duration> staleAfter();

    FollowedDirectory.Builder builder();

    @Override
    default String firstSnapshot(Optional<Duration> window) {
      return "the directory that the service follows holds none";
    }

    default FollowedSet follow(SnapshotListener listener) {
      FollowedDirectory.Builder builder =
          builder().keyHash(keyHash()).trustedKeys(trustedKeys()).listener(listener);
      staleAfter().ifPresent(builder::staleAfter);
      return builder.start();
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

  /** See {@link #directory}. */
  record InDirectory(
      Path directory,
      String setName,
      KeyHash keyHash,
      List<TrustedKey> trustedKeys,
      Optional<Duration> staleAfter,
      Duration poll)
      implements OfFiles {

    @Override
    public FollowedDirectory.Builder builder() {
      return FollowedDirectory.builder(directory, setName).poll(poll);
    }
  }

  /** See {@link #address}. */
  record AtAddress(
      URI address,
      String setName,
      KeyHash keyHash,
      List<TrustedKey> trustedKeys,
      Optional<Duration> staleAfter)
      implements OfFiles {

    @Override
    public FollowedDirectory.Builder builder() {
      return FollowedDirectory.builder(address, setName);
    }
  }
}
