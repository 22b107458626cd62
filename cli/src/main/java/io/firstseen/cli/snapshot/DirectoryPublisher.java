package io.firstseen.cli.snapshot;

import io.firstseen.filters.gcs.UnsignedSort;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SetWriter;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.Publication;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Publishes keys as the next sequence of a set; a killed process leaves a whole set. */
record DirectoryPublisher(
    SnapshotDirectory directory,
    String setName,
    SetParameters parameters,
    Duration window,
    Publication publication,
    @Nullable SigningKey signingKey,
    Consumer<String> warnings) {

  /** The result of a publication, or why it is on hold; changeBytes and setBytes are downloads. */
  record Result(
      Manifest manifest,
      long keys,
      Optional<String> held,
      long changeBytes,
      long setBytes,
      SnapshotDirectory.Pruned pruned) {}

  /** Publishes the hashes of a list, which may repeat. */
  Result publish(long[] hashes, long nowMillis) throws IOException {
    Closeable lock = directory.lock();
    try (lock) {
      if (directory.sequences().isEmpty()) {
        return write(null, new SetWriter(setName, parameters), hashes, nowMillis);
      }
      // A run that was killed may not have written the copy.
      directory.writeNewestManifest();
      Manifest newest = directory.latest();
      requireSame(newest);
      long keys = distinct(UnsignedSort.parallelSorted(hashes));
      Optional<String> breach = publication.bounds().breach(newest.count(), keys);
      if (breach.isPresent() && publication.jumpAllowedAfter() != newest.sequence()) {
        String reason =
            "the list has %d keys after %d in sequence %d, but %s; to publish it, set --allow-jump-after %d or a wider limit"
                .formatted(
                    keys, newest.count(), newest.sequence(), breach.get(), newest.sequence());
        return new Result(
            newest,
            keys,
            Optional.of(reason),
            0,
            setBytes(newest),
            new SnapshotDirectory.Pruned(0, 0));
      }
      return write(newest, writer(newest), hashes, nowMillis);
    }
  }

  private static long distinct(long[] sorted) {
    return IntStream.range(0, sorted.length)
        .filter(i -> i == 0 || sorted[i] != sorted[i - 1])
        .count();
  }

  private void requireSame(Manifest newest) {
    String problem = null;
    if (!newest.setName().equals(setName)) {
      problem =
          "it is of set '%s', and each set needs its own directory".formatted(newest.setName());
    } else if (!newest.parameters().equals(parameters)) {
      problem =
          "the parameters of a set are fixed: %s; got %s. To change them, publish to another directory"
              .formatted(describe(newest.parameters()), describe(parameters));
    } else if (newest.signature() != null && signingKey == null) {
      problem =
          "it is signed, and clients with trusted keys reject unsigned manifests: set --signing-key. To publish without signatures, publish to another directory";
    } else if (newest.expiresMillis() != null && publication.expiresMillis(0) == null) {
      problem =
          "it expires, and the next manifest would not, so clients would never report a stale set: set --expire-after, at most 36500d";
    }
    if (problem != null) {
      throw new UserErrorException(
          "manifest %d in %s cannot be followed by one of set '%s': %s"
              .formatted(newest.sequence(), directory.path(), setName, problem));
    }
  }

  private static String describe(SetParameters parameters) {
    String stripped = parameters.canonicaliser().strippedParameters();
    return "--canonicaliser %s (version %d)%s, %d shards, rate %s, hash %s with key check %016x"
        .formatted(
            parameters.canonicaliser().id(),
            parameters.canonicaliserVersion(),
            stripped.isEmpty() ? "" : " without " + stripped,
            parameters.shards().count(),
            parameters.falsePositiveRate(),
            parameters.hashAlgorithm().id(),
            parameters.keyCheck());
  }

  private SetWriter writer(Manifest manifest) throws IOException {
    SnapshotSet set;
    try {
      set = CatchUp.to(manifest, List.of(), blob -> directory.blob(manifest, blob)).set();
    } catch (SnapshotException e) {
      warn("the set", manifest, e.getMessage());
      return new SetWriter(setName, parameters, manifest.packBytes());
    }
    String reason = "it does not exist";
    Optional<byte[]> state = directory.writer(manifest.sequence());
    if (state.isPresent()) {
      try {
        return SetWriter.of(state.get(), set);
      } catch (SnapshotException e) {
        reason = e.getMessage();
      }
    }
    warn("the state of the writer", manifest, reason);
    return SetWriter.after(set, blob -> directory.blob(manifest, blob));
  }

  private void warn(String what, Manifest manifest, String reason) {
    warnings.accept(
        "%s of sequence %d in %s cannot be used: %s. The next sequence contains the whole set, so clients download more"
            .formatted(what, manifest.sequence(), directory.path(), reason));
  }

  private Result write(@Nullable Manifest before, SetWriter writer, long[] hashes, long nowMillis)
      throws IOException {
    long sequence = before == null ? 1 : before.sequence() + 1;
    long endMillis = before == null ? nowMillis : Math.max(nowMillis, before.windowEndMillis() + 1);
    SetWriter.Window written;
    try {
      written = writer.write(sequence, endMillis - window.toMillis(), endMillis, hashes);
    } catch (IllegalArgumentException e) {
      // The rate needs more bits than a hash has, or the set is too large.
      throw new UserErrorException(e.getMessage());
    }
    Manifest unsigned = publication.published(written.manifest(), nowMillis);
    Manifest manifest = signingKey == null ? unsigned : signingKey.sign(unsigned);
    written.writeBlobs(directory);
    directory.writeWriter(manifest.sequence(), writer.toBytes());
    directory.writeManifest(manifest);
    directory.writeNewestManifest();
    long changeBytes =
        written.blobs().stream()
            .filter(blob -> blob.kind() == BlobFrame.Kind.PACK)
            .mapToLong(blob -> blob.reference().bytes())
            .sum();
    return new Result(
        manifest,
        manifest.count(),
        Optional.empty(),
        changeBytes,
        setBytes(manifest),
        prune(writer, nowMillis));
  }

  private SnapshotDirectory.Pruned prune(SetWriter writer, long nowMillis) {
    try {
      return directory.prune(nowMillis - publication.graceMillis(), writer.inUse());
    } catch (IOException e) {
      warnings.accept(
          "old files of %s cannot be removed: %s".formatted(directory.path(), e.getMessage()));
      return new SnapshotDirectory.Pruned(0, 0);
    }
  }

  private long setBytes(Manifest manifest) throws IOException {
    if (manifest.pack() == null) {
      return 0;
    }
    var newest = new ManifestBlobs(manifest, blob -> directory.blob(manifest, blob)).newestPack();
    return newest.basesBytes() + newest.packsSince() + manifest.pack().bytes();
  }
}
