package io.firstseen.server;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** Writes snapshots of a set into a directory. An unchanged shard keeps its blob. */
final class DirectoryPublisher {
  static final String SET = "spam";
  static final long WINDOW_MILLIS = 60_000;

  private final SnapshotDirectory directory;
  private final SetParameters parameters;
  private final KeyHash keyHash;
  private final String setName;
  private final long[][] published;
  private final BlobReference[] bases;

  DirectoryPublisher(
      Path path, String setName, KeyHash keyHash, Canonicaliser canonicaliser, int shards) {
    this.directory = new SnapshotDirectory(path);
    this.setName = setName;
    this.keyHash = keyHash;
    this.parameters = SetParameters.of(keyHash, canonicaliser, new Shards(shards), 1e-9);
    this.published = new long[shards][0];
    this.bases = new BlobReference[shards];
  }

  static DirectoryPublisher of(Path path) {
    return new DirectoryPublisher(path, SET, KeyHash.fixed(), Canonicaliser.NONE, 2);
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
    List<ManifestShard> shards = new ArrayList<>();
    for (int shard = 0; shard < published.length; shard++) {
      int number = shard;
      long[] own =
          LongStream.of(hashes)
              .filter(hash -> parameters.shards().shardOf(hash) == number)
              .sorted()
              .distinct()
              .toArray();
      if (!Arrays.equals(own, published[shard])) {
        published[shard] = own;
        SnapshotParameters ofShard =
            new SnapshotParameters(
                parameters,
                setName,
                shard,
                sequence,
                (sequence - 1) * WINDOW_MILLIS,
                sequence * WINDOW_MILLIS);
        Snapshot snapshot = Snapshot.build(own, ofShard);
        bases[shard] = BlobReference.to(snapshot);
        directory.writeBlob(bases[shard].digest(), snapshot.toBytes());
      }
      shards.add(
          bases[shard] == null
              ? ManifestShard.empty(shard)
              : ManifestShard.of(shard, own.length, bases[shard]));
    }
    return Manifest.of(
            setName,
            sequence,
            (sequence - 1) * WINDOW_MILLIS,
            sequence * WINDOW_MILLIS,
            parameters,
            shards)
        .withTimes(System.currentTimeMillis(), null);
  }

  void writeManifest(Manifest manifest) throws SnapshotException {
    directory.writeManifest(manifest);
  }
}
