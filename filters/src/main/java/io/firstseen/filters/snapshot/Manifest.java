package io.firstseen.filters.snapshot;

import java.net.URI;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a set at the end of a window: for every shard, the blobs that lead to its newest
 * set. Specified in {@code docs/format/manifest-v1.md}.
 *
 * @param setName the name of the set, see {@link SnapshotTopicFormat#requireSetName}
 * @param sequence ascending in a set, at least 0
 * @param windowStartMillis where the window begins, in milliseconds since the epoch
 * @param windowEndMillis where it ends, exclusive
 * @param publishedMillis when the publisher made this manifest, by its clock, in milliseconds since
 *     the epoch
 * @param expiresMillis from when on a snapshot of this manifest is stale, in milliseconds since the
 *     epoch, later than publishedMillis; null if the publisher sets no such time
 * @param parameters what all snapshots of the set share
 * @param count the number of live hashes, the sum over the shards
 * @param blobs the directory that holds the blobs under their digests; null if they are stored with
 *     the manifest, on its topic or in its directory
 * @param shards every shard once, in order
 * @param signature a signature over the rest of the manifest; null if there is none
 */
public record Manifest(
    String setName,
    long sequence,
    long windowStartMillis,
    long windowEndMillis,
    long publishedMillis,
    @Nullable Long expiresMillis,
    SetParameters parameters,
    long count,
    @Nullable URI blobs,
    List<ManifestShard> shards,
    @Nullable ManifestSignature signature) {

  private static final int MAX_URI_CHARS = 2_000;
  // The end of the year 9999: sums and differences of times do not overflow.
  private static final long MAX_MILLIS = 253_402_300_799_999L;

  /** The version of the JSON form. */
  public static final int FORMAT = 1;

  /** Refuses fields that contradict each other. */
  public Manifest {
    SnapshotTopicFormat.requireSetName(setName);
    SnapshotParameters.requireSequence(sequence);
    SnapshotParameters.requireWindow(windowStartMillis, windowEndMillis);
    requireTime("publishedMillis", publishedMillis, 0);
    if (expiresMillis != null) {
      requireTime("expiresMillis", expiresMillis, publishedMillis + 1);
    }
    Objects.requireNonNull(parameters, "parameters");
    shards = List.copyOf(shards);
    requireCount(count);
    if (blobs != null) {
      requireDirectory(blobs);
    }
    int expected = parameters.shards().count();
    if (shards.size() != expected) {
      throw new IllegalArgumentException(
          "shards must have " + expected + " entries, got " + shards.size());
    }
    long sum = 0;
    for (int i = 0; i < expected; i++) {
      ManifestShard shard = shards.get(i);
      if (shard.shard() != i) {
        throw new IllegalArgumentException(
            "shards[" + i + "] must be shard " + i + ", got " + shard.shard());
      }
      for (BlobReference blob : shard.blobs()) {
        if (blob.sequence() > sequence) {
          throw new IllegalArgumentException(
              String.format(
                  "the %s of shard %d must have a sequence of at most %d, got %d",
                  blob.isDelta() ? "deltas" : "base", i, sequence, blob.sequence()));
        }
      }
      sum += shard.count();
    }
    if (sum != count) {
      throw new IllegalArgumentException(
          "count must be the sum over the shards, " + sum + ", got " + count);
    }
  }

  /**
   * An unsigned manifest without a directory of blobs, published at 0, until {@link #withTimes}
   * says when. Its count is the sum of the shards' counts.
   */
  public static Manifest of(
      String setName,
      long sequence,
      long windowStartMillis,
      long windowEndMillis,
      SetParameters parameters,
      List<ManifestShard> shards) {
    long count = shards.stream().mapToLong(ManifestShard::count).sum();
    return new Manifest(
        setName,
        sequence,
        windowStartMillis,
        windowEndMillis,
        0,
        null,
        parameters,
        count,
        null,
        shards,
        null);
  }

  /** An unsigned copy with other times of publication and expiry. */
  public Manifest withTimes(long newPublishedMillis, @Nullable Long newExpiresMillis) {
    return new Manifest(
        setName,
        sequence,
        windowStartMillis,
        windowEndMillis,
        newPublishedMillis,
        newExpiresMillis,
        parameters,
        count,
        blobs,
        shards,
        null);
  }

  /**
   * An unsigned copy with another directory of blobs; null if they are stored with the manifest.
   */
  public Manifest withBlobs(@Nullable URI directory) {
    return new Manifest(
        setName,
        sequence,
        windowStartMillis,
        windowEndMillis,
        publishedMillis,
        expiresMillis,
        parameters,
        count,
        directory,
        shards,
        null);
  }

  /** A copy with another signature; null for none. */
  public Manifest withSignature(@Nullable ManifestSignature signature) {
    return new Manifest(
        setName,
        sequence,
        windowStartMillis,
        windowEndMillis,
        publishedMillis,
        expiresMillis,
        parameters,
        count,
        blobs,
        shards,
        signature);
  }

  /**
   * The URI of a blob.
   *
   * @throws IllegalStateException if the manifest names no directory
   */
  public URI blobUri(String digestHex) {
    if (blobs == null) {
      throw new IllegalStateException("the manifest names no directory of blobs");
    }
    String directory = blobs.toString();
    String separator = directory.endsWith("/") ? "" : "/";
    return URI.create(directory + separator + Sha256.require("digest", digestHex));
  }

  /**
   * Reads the JSON form. Unknown fields are ignored.
   *
   * @throws MalformedSnapshotException if the bytes are not a valid manifest; the message names the
   *     field
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Manifest fromJson(byte[] json) throws SnapshotException {
    return ManifestJson.read(json);
  }

  /** The JSON form: equal manifests give equal bytes, on every Java version. */
  public byte[] toJson() {
    return ManifestJson.write(this);
  }

  /** An unsigned copy of what is said of the set: without times of publication and location. */
  public Manifest content() {
    return withTimes(0, null).withBlobs(null);
  }

  /** Whether two manifests say the same of the set, whenever and wherever it was published. */
  public boolean hasContentOf(Manifest other) {
    return content().equals(other.content());
  }

  private static void requireTime(String name, long millis, long min) {
    if (millis < min || millis > MAX_MILLIS) {
      throw new IllegalArgumentException(
          name + " must be in [" + min + ", " + MAX_MILLIS + "], got " + millis);
    }
  }

  private static void requireDirectory(URI uri) {
    if (uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException(
          "blobs must not have a user or a password in it, as manifests are published");
    }
    if (!uri.isAbsolute()
        || uri.isOpaque()
        || uri.getRawQuery() != null
        || uri.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "blobs must be the URI of a directory, such as s3://bucket/path, got '" + uri + "'");
    }
    if (uri.toString().length() > MAX_URI_CHARS) {
      throw new IllegalArgumentException(
          "blobs must have at most "
              + MAX_URI_CHARS
              + " characters, got "
              + uri.toString().length());
    }
  }

  static void requireCount(long count) {
    // The bound keeps sums of counts exact.
    if (count < 0 || count > 1L << 40) {
      throw new IllegalArgumentException("count must be in [0, 2^40], got " + count);
    }
  }
}
