package io.firstseen.server;

import io.firstseen.consumer.FollowedDirectory;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.fixtures.SetPublisher;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Writes snapshots of a set into a directory. */
final class DirectoryPublisher {
  static final String SET = "spam";
  static final long WINDOW_MILLIS = 60_000;

  private final SnapshotDirectory directory;
  private final KeyHash keyHash;
  private final SetPublisher publisher;

  DirectoryPublisher(
      Path path, String setName, KeyHash keyHash, Canonicaliser canonicaliser, int shards) {
    this.directory = new SnapshotDirectory(path);
    this.keyHash = keyHash;
    this.publisher =
        new SetPublisher(
            setName, SetParameters.of(keyHash, canonicaliser, new Shards(shards), 1e-9));
  }

  static DirectoryPublisher of(Path path) {
    return new DirectoryPublisher(path, SET, KeyHash.fixed(), Canonicaliser.NONE, 2);
  }

  /** The source of a set in a directory, which is polled at this interval. */
  static SetSource source(Path path, String setName, KeyHash keyHash, Duration poll) {
    return new SetSource.OfFiles(
        FollowedDirectory.builder(path, setName).poll(poll),
        setName,
        keyHash,
        List.of(),
        Optional.empty());
  }

  /** Publishes window {@code sequence}, at whose end the set holds these canonical keys. */
  Manifest publish(long sequence, String... keys) throws SnapshotException {
    Manifest manifest = writeBlobs(sequence, keys);
    directory.writeManifest(manifest);
    return manifest;
  }

  /** Like {@link #publish}, but without writing the manifest. */
  Manifest writeBlobs(long sequence, String... keys) throws SnapshotException {
    return writeBlobs(
        sequence,
        Arrays.stream(keys)
            .mapToLong(key -> keyHash.hash(key.getBytes(StandardCharsets.UTF_8)))
            .toArray());
  }

  /** The same from hashes. */
  Manifest writeBlobs(long sequence, long[] hashes) throws SnapshotException {
    return publisher
        .publish(sequence, (sequence - 1) * WINDOW_MILLIS, sequence * WINDOW_MILLIS, hashes)
        .writeBlobs(directory)
        .manifest()
        .withTimes(System.currentTimeMillis(), null);
  }

  void writeManifest(Manifest manifest) throws SnapshotException {
    directory.writeManifest(manifest);
  }

  /** The blobs that were written so far. */
  SetPublisher blobs() {
    return publisher;
  }
}
