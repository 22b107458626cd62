package io.firstseen.filters.snapshot;

import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Describes a set at the end of a window: the root of its shards' digests, and the newest pack,
 * from which a reader finds all other blobs. Specified in {@code docs/format/manifest-v1.md}.
 *
 * @param setName the name of the set, see {@link SnapshotTopicFormat#requireSetName}
 * @param sequence ascending in a set, at least 0
 * @param windowStartMillis where the window begins, in milliseconds since the epoch
 * @param windowEndMillis where it ends, exclusive
 * @param publishedMillis when the publisher created this manifest, by the publisher's clock, in
 *     milliseconds since the epoch
 * @param expiresMillis when a snapshot of this manifest becomes stale, in milliseconds since the
 *     epoch, later than publishedMillis; null if the publisher does not set an expiry time
 * @param parameters what all snapshots of the set share
 * @param count the number of live hashes of all shards
 * @param root the {@link ShardTree#root} of the shards' sets
 * @param pack the newest pack; null if the set never held a key
 * @param packBytes the bytes of all packs of the set up to this one; 0 without one
 * @param blobs the directory that holds the blobs under their digests; null if they are stored with
 *     the manifest, on its topic or in its directory
 * @param extension further optional fields, as hexadecimal digits; null if there are none. Fields
 *     that this version does not know are preserved, so that the signature stays valid
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
    String root,
    @Nullable BlobReference pack,
    long packBytes,
    @Nullable URI blobs,
    @Nullable String extension,
    @Nullable ManifestSignature signature) {

  static final int MAX_URI_CHARS = 2_000;
  // The bound keeps sums of counts exact.
  static final long MAX_COUNT = 1L << 40;
  // Sums of two or three such numbers do not overflow, and other languages have them exactly.
  static final long MAX_BYTES = 1L << 53;
  static final int MAX_EXTENSION_BYTES = 4_096;
  private static final Pattern EXTENSION = Pattern.compile("(?:[0-9a-f]{2}){1,4096}");
  // The end of the year 9999: sums and differences of times do not overflow.
  static final long MAX_MILLIS = 253_402_300_799_999L;

  /** The version of the binary form. */
  public static final int FORMAT = FieldWriter.VERSION;

  /** Rejects fields that contradict each other. */
  public Manifest {
    SnapshotTopicFormat.requireSetName(setName);
    SnapshotParameters.requireSequence(sequence);
    SnapshotParameters.requireWindow(windowStartMillis, windowEndMillis);
    if (windowEndMillis - windowStartMillis < 0) {
      throw new IllegalArgumentException(
          "a window must be shorter than 2^63 ms, got [%d, %d)"
              .formatted(windowStartMillis, windowEndMillis));
    }
    requireTime("publishedMillis", publishedMillis, 0);
    if (expiresMillis != null) {
      requireTime("expiresMillis", expiresMillis, publishedMillis + 1);
    }
    Objects.requireNonNull(parameters, "parameters");
    if (count < 0 || count > MAX_COUNT) {
      throw new IllegalArgumentException("count must be in [0, 2^40], got " + count);
    }
    Sha256.require("root", root);
    if (blobs != null) {
      requireBlobs(blobs);
    }
    if (packBytes > MAX_BYTES) {
      throw new IllegalArgumentException("packBytes must be at most 2^53, got " + packBytes);
    }
    if (extension != null && !EXTENSION.matcher(extension).matches()) {
      throw new IllegalArgumentException(
          "extension must be 1 to " + MAX_EXTENSION_BYTES + " bytes as hexadecimal digits");
    }
    if (pack == null ? packBytes != 0 || count != 0 : packBytes < pack.bytes()) {
      throw new IllegalArgumentException(
          pack == null
              ? "packBytes and count must be 0 without a pack, got " + packBytes + " and " + count
              : "packBytes must be at least " + pack.bytes() + ", got " + packBytes);
    }
  }

  /**
   * Returns an unsigned manifest without a directory of blobs. Its publication time is 0; {@link
   * #withTimes} sets it.
   */
  public static Manifest of(
      String setName,
      long sequence,
      long windowStartMillis,
      long windowEndMillis,
      SetParameters parameters,
      long count,
      String root,
      @Nullable BlobReference pack,
      long packBytes) {
    return new Manifest(
        setName,
        sequence,
        windowStartMillis,
        windowEndMillis,
        0,
        null,
        parameters,
        count,
        root,
        pack,
        packBytes,
        null,
        null,
        null);
  }

  /** Returns an unsigned copy with other times of publication and expiry. */
  public Manifest withTimes(long newPublishedMillis, @Nullable Long newExpiresMillis) {
    return with(newPublishedMillis, newExpiresMillis, blobs, extension, null);
  }

  /**
   * Returns an unsigned copy with another directory of blobs; null if they are stored with the
   * manifest.
   */
  public Manifest withBlobs(@Nullable URI directory) {
    return with(publishedMillis, expiresMillis, directory, extension, null);
  }

  /** Returns an unsigned copy with the fields of another extension; null for none. */
  public Manifest withExtension(@Nullable String newExtension) {
    return with(publishedMillis, expiresMillis, blobs, newExtension, null);
  }

  /** Returns a copy with another signature; null for none. */
  public Manifest withSignature(@Nullable ManifestSignature newSignature) {
    return with(publishedMillis, expiresMillis, blobs, extension, newSignature);
  }

  private Manifest with(
      long newPublishedMillis,
      @Nullable Long newExpiresMillis,
      @Nullable URI directory,
      @Nullable String newExtension,
      @Nullable ManifestSignature newSignature) {
    return new Manifest(
        setName,
        sequence,
        windowStartMillis,
        windowEndMillis,
        newPublishedMillis,
        newExpiresMillis,
        parameters,
        count,
        root,
        pack,
        packBytes,
        directory,
        newExtension,
        newSignature);
  }

  /**
   * Returns the URI of a blob.
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
   * Reads the binary form. A signature is not checked, see {@link ManifestCheck}.
   *
   * @throws MalformedSnapshotException if the bytes are not a valid manifest
   * @throws UnsupportedSnapshotException if a newer reader is needed
   */
  public static Manifest read(byte[] bytes) throws SnapshotException {
    return ManifestFormat.read(ByteBuffer.wrap(bytes));
  }

  /** Returns the binary form: equal manifests give equal bytes. */
  public byte[] toBytes() {
    return ManifestFormat.write(this);
  }

  /**
   * Returns an unsigned copy that only describes the set, without the publication time, the expiry
   * time, the directory of blobs and the extension.
   */
  public Manifest content() {
    return withTimes(0, null).withBlobs(null).withExtension(null);
  }

  /**
   * Returns whether two manifests describe the same set, regardless of when and where they were
   * published.
   */
  public boolean hasContentOf(Manifest other) {
    return content().equals(other.content());
  }

  SnapshotParameters ofShard(int shard) {
    return new SnapshotParameters(
        parameters, setName, shard, sequence, windowStartMillis, windowEndMillis);
  }

  private static void requireTime(String name, long millis, long min) {
    if (millis < min || millis > MAX_MILLIS) {
      throw new IllegalArgumentException(
          name + " must be in [" + min + ", " + MAX_MILLIS + "], got " + millis);
    }
  }

  /**
   * Returns the URI of a directory of blobs as it was given.
   *
   * @throws IllegalArgumentException if the URI is not valid in a manifest; the message states the
   *     reason
   */
  public static URI requireBlobs(URI uri) {
    String authority = uri.getRawAuthority();
    // An authority that does not consist of host and port is not divided into its parts.
    if (authority != null && authority.contains("@")) {
      throw new IllegalArgumentException(
          "blobs must not have a user or a password in it, as manifests are published");
    }
    if (!uri.isAbsolute()
        || uri.isOpaque()
        || (authority != null && authority.contains("%"))
        || uri.getRawPath().contains("%00")
        || (authority != null && "file".equals(uri.getScheme()))
        || uri.getRawQuery() != null
        || uri.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "blobs must be the URI of a directory, such as s3://bucket/path, got '" + uri + "'");
    }
    if (uri.toASCIIString().length() > MAX_URI_CHARS) {
      throw new IllegalArgumentException(
          "blobs must have at most %d characters, got %d"
              .formatted(MAX_URI_CHARS, uri.toASCIIString().length()));
    }
    return uri;
  }
}
