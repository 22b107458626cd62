package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Fetches blobs that are not on the topic from files, over HTTP, or with the user's loader. Blobs
 * are read into memory instead of mapped, because another process might truncate a file during a
 * query.
 */
public final class BlobSource {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
  private static final Set<String> SCHEMES = Set.of("file", "http", "https");

  static final long REQUEST_BYTES = 4_096;

  // The maximum length of an array on any JVM.
  private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  private final @Nullable URI directory;
  private final @Nullable BlobLoader loader;
  private final boolean asksNamedPlaces;
  private final HttpFetch http;

  /**
   * Creates a source.
   *
   * @param directory the location of all blobs, which overrides the location in manifests; null if
   *     manifests decide
   * @param loader fetches all blobs instead; null for none
   * @param asksNamedPlaces whether the location in a manifest is used. This is safe only if
   *     manifests must be signed by a trusted key; otherwise anyone with write access to the topic
   *     could choose which files and servers this program reads
   */
  public BlobSource(@Nullable URI directory, @Nullable BlobLoader loader, boolean asksNamedPlaces) {
    this(directory, loader, asksNamedPlaces, ANSWER_TIMEOUT);
  }

  BlobSource(
      @Nullable URI directory,
      @Nullable BlobLoader loader,
      boolean asksNamedPlaces,
      Duration answerTimeout) {
    this.directory = directory;
    this.loader = loader;
    this.asksNamedPlaces = asksNamedPlaces;
    this.http = new HttpFetch(answerTimeout);
  }

  /**
   * Returns whether the blobs of a manifest must be fetched by this source; otherwise they are on
   * the topic.
   */
  public boolean isNeededFor(Manifest manifest) {
    return directory != null || loader != null || manifest.blobs() != null;
  }

  /**
   * Returns the bytes of a blob, with their digest checked.
   *
   * @throws MalformedSnapshotException if the manifest gives a length that this source cannot read
   * @throws MissingBlobsException if the blob does not exist or has different bytes; the message
   *     names the location
   * @throws IOException if they cannot be fetched; the message names the location
   */
  public ByteBuffer fetch(Manifest manifest, BlobReference blob) throws IOException {
    ByteBuffer bytes = read(manifest, blob);
    String digest = Sha256.hex(bytes);
    if (!digest.equals(blob.digest())) {
      throw new MissingBlobsException(
          blob, "its " + bytes.remaining() + " bytes have the digest " + digest);
    }
    return bytes;
  }

  private ByteBuffer read(Manifest manifest, BlobReference blob) throws IOException {
    if (loader != null) {
      return loader.load(blob);
    }
    String why = whyUnreachable(manifest);
    if (why != null) {
      throw new IOException(why);
    }
    requireReadable(blob);
    URI uri = (directory == null ? manifest : manifest.withBlobs(directory)).blobUri(blob.digest());
    return uri.getScheme().equals("file") ? read(uri, blob) : get(uri, blob);
  }

  /**
   * Returns why the blobs of a manifest cannot be fetched with this configuration; null if they can
   * be fetched, or are on the topic.
   */
  @Nullable String whyUnreachable(Manifest manifest) {
    if (loader != null || !isNeededFor(manifest)) {
      return null;
    }
    if (directory == null && !asksNamedPlaces) {
      return "the manifest names the location "
          + manifest.blobs()
          + ", which is read only if a trusted key has signed the manifest: give this client the"
          + " directory of blobs or a trusted key";
    }
    URI place = directory == null ? manifest.blobs() : directory;
    return SCHEMES.contains(place.getScheme())
        ? null
        : place
            + " is of a kind that this client cannot read: give it a loader, or a file: or http:"
            + " URI";
  }

  /**
   * Rejects a length that this source cannot read, regardless of the blob's location.
   *
   * @throws MalformedSnapshotException if the blob is too long
   */
  void requireReadable(BlobReference blob) throws MalformedSnapshotException {
    if (loader == null && blob.bytes() > MAX_BYTES) {
      throw new MalformedSnapshotException(
          "manifest: blob %s must have at most %d bytes to be read into memory, got %d"
              .formatted(blob.digest(), MAX_BYTES, blob.bytes()));
    }
  }

  private static ByteBuffer read(URI uri, BlobReference blob) throws IOException {
    try (InputStream file = Files.newInputStream(Path.of(uri))) {
      return ByteBuffer.wrap(file.readNBytes((int) limit(blob)));
    } catch (NoSuchFileException e) {
      throw new MissingBlobsException(blob, "there is no " + uri);
    } catch (IllegalArgumentException e) {
      throw new IOException(uri + " is not a path: " + e.getMessage(), e);
    }
  }

  /** One extra byte is enough to detect that this is not the expected blob. */
  private static long limit(BlobReference blob) {
    return Math.min(blob.bytes() + 1, MAX_BYTES);
  }

  private ByteBuffer get(URI uri, BlobReference blob) throws IOException {
    HttpFetch.Reply reply = http.get(uri, null, limit(blob));
    if (reply.status() == HttpFetch.OK) {
      return reply.body();
    }
    throw reply.isMissing()
        ? new MissingBlobsException(blob, reply.problem())
        : new IOException(reply.problem());
  }
}
