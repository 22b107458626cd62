package io.firstseen.consumer;

import io.firstseen.consumer.internal.BlobSource;
import io.firstseen.consumer.internal.FirstSnapshot;
import io.firstseen.consumer.internal.SnapshotAssembler;
import io.firstseen.consumer.internal.TopicBlobs;
import io.firstseen.consumer.internal.TopicReading;
import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Fetches the newest snapshot of a set once, into a {@link SnapshotDirectory}. Only missing blobs
 * are fetched, and all blobs are verified before the manifest is written. Does not require the hash
 * key.
 *
 * <p>The newest snapshot is the snapshot with the highest sequence on the topic, regardless of the
 * position of its manifest. If it is damaged or its blobs are not on the topic, the snapshot with
 * the next lower sequence is fetched, unless the directory already contains this or a higher
 * sequence.
 */
public final class SnapshotPull {
  private final SnapshotClientOptions options;
  private final SnapshotDirectory directory;
  private final BlobSource blobs;
  // The blobs of the current manifest that were written to the directory.
  private int fetchedBlobs;
  private long fetchedBytes;

  /**
   * The result of a pull.
   *
   * @param manifest the newest usable manifest, which the directory now contains
   * @param isNew whether it was written, because the directory contained an older manifest or no
   *     manifest
   * @param fetchedBlobs how many blobs were fetched
   * @param fetchedBytes their total length
   */
  public record Result(Manifest manifest, boolean isNew, int fetchedBlobs, long fetchedBytes) {}

  private SnapshotPull(SnapshotClientOptions options, Path directory) {
    this.options = options;
    this.directory = new SnapshotDirectory(directory);
    this.blobs = options.blobSource();
  }

  /**
   * Fetches the snapshot.
   *
   * @param options the set and its source; options for running clients are ignored. The listener
   *     receives the progress, and {@link SnapshotListener#onRefused} is called for ignored records
   *     and for a newest snapshot that cannot be used
   * @param timeout the time limit of the whole pull
   * @throws NothingPublishedException if there is no snapshot of the set yet
   * @throws SnapshotException if the published snapshot cannot be used, or is older than the
   *     snapshot in the directory
   * @throws IOException if a blob cannot be fetched
   * @throws TimeoutException if the pull exceeds the timeout
   */
  public static Result pull(SnapshotClientOptions options, Path directory, Duration timeout)
      throws IOException, TimeoutException {
    SnapshotPull pull = new SnapshotPull(options, directory);
    try (TopicReading topic =
        new TopicReading(
            options.topic(),
            SnapshotClient.consumerProperties(options),
            timeout,
            options.listener()::onProgress)) {
      return pull.pull(topic);
    }
  }

  private Result pull(TopicReading topic) throws IOException, TimeoutException {
    TopicBlobs onTopic =
        new TopicBlobs(
            topic,
            options.setName(),
            options.maxUnnamedBytes().orElse(SnapshotAssembler.DEFAULT_MAX_UNNAMED_BYTES));
    List<Manifest> highestFirst = published(topic, onTopic);
    Closeable lock = directory.lock();
    try {
      return pull(onTopic, highestFirst);
    } finally {
      lock.close();
    }
  }

  private Result pull(TopicBlobs onTopic, List<Manifest> highestFirst)
      throws IOException, TimeoutException {
    List<Long> held = directory.sequences();
    long highest = held.isEmpty() ? -1 : held.get(held.size() - 1);
    Manifest newest = held.isEmpty() ? null : readable();
    if (newest != null && !newest.setName().equals(options.setName())) {
      throw new SnapshotException(
          "%s holds set '%s', so set '%s' must go into another directory"
              .formatted(directory.path(), newest.setName(), options.setName()));
    }
    SnapshotException failure = null;
    for (Manifest each : highestFirst) {
      if (failure != null && each.sequence() <= highest) {
        break;
      }
      try {
        Result result = pull(onTopic, each, highest);
        if (failure != null) {
          options
              .listener()
              .onRefused(
                  "%s; sequence %d is fetched instead"
                      .formatted(failure.getMessage(), each.sequence()));
        }
        return result;
      } catch (SnapshotException e) {
        failure = failure == null ? e : failure;
      }
    }
    throw failure;
  }

  private Result pull(TopicBlobs onTopic, Manifest manifest, long highest)
      throws IOException, TimeoutException {
    if (highest > manifest.sequence()) {
      throw new SnapshotException(
          "set '%s' went back to sequence %d; %s holds sequence %d and stays as it is"
              .formatted(options.setName(), manifest.sequence(), directory.path(), highest));
    }
    Manifest last = highest == manifest.sequence() ? readable() : null;
    if (last != null && !last.hasContentOf(manifest)) {
      throw new SnapshotException(
          "sequence %d of set '%s' has different content from the manifest in %s, which stays as it is"
              .formatted(highest, options.setName(), directory.path()));
    }
    if (manifest.equals(last) && holdsAllOf(manifest)) {
      return new Result(manifest, false, 0, 0);
    }
    fetchedBlobs = 0;
    fetchedBytes = 0;
    fetch(onTopic, manifest);
    directory.writeManifest(manifest);
    return new Result(manifest, true, fetchedBlobs, fetchedBytes);
  }

  /** Returns the newest manifest of the directory; null if it is damaged. */
  private @Nullable Manifest readable() {
    try {
      return directory.latest();
    } catch (SnapshotException e) {
      return null;
    }
  }

  /** Returns whether the directory holds a blob with the right digest. */
  private boolean isHeld(BlobReference blob) {
    try {
      return Sha256.hex(directory.blob(blob)).equals(blob.digest());
    } catch (SnapshotException e) {
      return false;
    }
  }

  /** Returns whether the directory contains all blobs that a reader of the manifest needs. */
  private boolean holdsAllOf(Manifest manifest) {
    try {
      return new ManifestBlobs(manifest, directory::blob)
          .named().values().stream().allMatch(this::isHeld);
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns the manifests of the set on the topic, the highest sequence first; at least one. */
  private List<Manifest> published(TopicReading topic, TopicBlobs onTopic)
      throws IOException, TimeoutException {
    if (!topic.exists()) {
      throw new NothingPublishedException(
          "there is no topic '%s' yet; %s"
              .formatted(options.topic(), FirstSnapshot.expected(Optional.empty())));
    }
    PublishedManifests manifests = new PublishedManifests(options.setName(), options.trustedKeys());
    OtherRecords others = new OtherRecords(options.topic(), options.setName());
    topic.readAll(
        (key, value) -> {
          if (key.equals(options.setName())) {
            manifests.accept(value);
          } else {
            others.accept(key, value);
            onTopic.accept(key, value);
          }
        });
    List<Manifest> highestFirst = manifests.highestFirst();
    if (!highestFirst.isEmpty()) {
      manifests.passedOver().ifPresent(options.listener()::onRefused);
      return highestFirst;
    }
    throw new NothingPublishedException(
        others
            .insteadOfSet()
            .orElseGet(
                () ->
                    "topic '%s' holds no snapshot of set '%s' yet; %s"
                        .formatted(
                            options.topic(),
                            options.setName(),
                            FirstSnapshot.expected(Optional.empty()))));
  }

  /** Writes all blobs of a manifest into the directory, and verifies them. */
  private void fetch(TopicBlobs onTopic, Manifest manifest) throws IOException, TimeoutException {
    if (blobs.isNeededFor(manifest)) {
      verify(manifest, blob -> blobs.fetch(manifest, blob));
      return;
    }
    try {
      onTopic.load(loader -> verify(manifest, loader), this::write);
    } catch (MissingBlobsException e) {
      throw new SnapshotException(
          "%d of the blobs of sequence %d of set '%s' are not on the topic, such as %s; it may"
                  .formatted(
                      e.blobs().size(),
                      manifest.sequence(),
                      options.setName(),
                      e.blobs().get(0).digest())
              + " have been replaced meanwhile: try again",
          e);
    }
  }

  private void verify(Manifest manifest, BlobLoader source) throws IOException {
    ManifestBlobs.verify(
        manifest,
        blob -> {
          if (!isHeld(blob)) {
            write(blob, source.load(blob));
          }
          return directory.blob(blob);
        });
  }

  private void write(BlobReference blob, ByteBuffer bytes) throws SnapshotException {
    byte[] copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    directory.writeBlob(blob.digest(), copy);
    fetchedBlobs++;
    fetchedBytes += copy.length;
  }
}
