package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Fetches blobs that are not on the topic from files, over HTTP, or with the user's loader. Blobs
 * are read into memory instead of mapped, because another process might truncate a file during a
 * query.
 */
public final class BlobSource {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
  private static final long MIN_BYTES_A_SECOND = 100_000;
  private static final int OK = 200;
  private static final Set<String> SCHEMES = Set.of("file", "http", "https");
  private static final Set<Integer> MISSING = Set.of(403, 404, 410);

  /** See {@link BlobLoader#requestBytes}. */
  static final long REQUEST_BYTES = 4_096;

  // The maximum length of an array on any JVM.
  private static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  private final @Nullable URI directory;
  private final @Nullable BlobLoader loader;
  private final boolean asksNamedPlaces;
  private final Duration answerTimeout;
  private HttpClient http;

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
    this.answerTimeout = answerTimeout;
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
      return readBytes(file, blob);
    } catch (NoSuchFileException e) {
      throw new MissingBlobsException(blob, "there is no " + uri);
    } catch (IllegalArgumentException e) {
      throw new IOException(uri + " is not a path: " + e.getMessage(), e);
    }
  }

  private static ByteBuffer readBytes(InputStream from, BlobReference blob) throws IOException {
    // One extra byte is enough to detect that this is not the expected blob.
    return ByteBuffer.wrap(from.readNBytes((int) Math.min(blob.bytes() + 1, MAX_BYTES)));
  }

  private ByteBuffer get(URI uri, BlobReference blob) throws IOException {
    if (http == null) {
      http =
          HttpClient.newBuilder()
              .connectTimeout(CONNECT_TIMEOUT)
              .followRedirects(HttpClient.Redirect.NORMAL)
              .build();
    }
    HttpRequest request = HttpRequest.newBuilder(uri).timeout(answerTimeout).build();
    try {
      HttpResponse<InputStream> response = http.send(request, BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        if (response.statusCode() != OK) {
          String message = uri + " answers " + response.statusCode();
          throw MISSING.contains(response.statusCode())
              ? new MissingBlobsException(blob, message)
              : new IOException(message);
        }
        return readWithin(deadlineMillis(blob), body, uri, blob);
      }
    } catch (HttpTimeoutException e) {
      throw new IOException(uri + " does not answer", e);
    } catch (ConnectException e) {
      throw new IOException(uri + " cannot be reached", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(uri + " was being fetched when the client was closed", e);
    }
  }

  private long deadlineMillis(BlobReference blob) {
    return answerTimeout.toMillis() + blob.bytes() * 1_000 / MIN_BYTES_A_SECOND;
  }

  /** Bounds the wait for a response body that stops half-way. */
  private static ByteBuffer readWithin(long millis, InputStream body, URI uri, BlobReference blob)
      throws IOException {
    AtomicBoolean isLate = new AtomicBoolean();
    CompletableFuture<Void> deadline =
        CompletableFuture.runAsync(
            () -> {
              isLate.set(true);
              close(body);
            },
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
    try {
      ByteBuffer read = readBytes(body, blob);
      if (isLate.get()) {
        throw new IOException("closed");
      }
      return read;
    } catch (IOException e) {
      String what =
          isLate.get()
              ? " was not read within " + millis + " ms"
              : " broke off in its answer: " + e.getMessage();
      throw new IOException(uri + what, e);
    } finally {
      deadline.cancel(false);
    }
  }

  private static void close(InputStream body) {
    try {
      body.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
