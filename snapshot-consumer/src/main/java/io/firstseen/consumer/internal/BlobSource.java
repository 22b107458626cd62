package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
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
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Fetches blobs that do not lie on the topic: files are mapped, HTTP is read whole; for other
 * places the user gives a loader. Whether the bytes have the digest is for the caller to check.
 */
public final class BlobSource {
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
  private static final long MIN_BYTES_A_SECOND = 100_000;
  private static final int OK = 200;

  private final URI directoryOrNull;
  private final BlobLoader loaderOrNull;
  private HttpClient http;

  /**
   * Makes a source.
   *
   * @param directoryOrNull where all blobs lie, whatever manifests say; null for what they say
   * @param loaderOrNull takes the place of everything else
   */
  public BlobSource(URI directoryOrNull, BlobLoader loaderOrNull) {
    this.directoryOrNull = directoryOrNull;
    this.loaderOrNull = loaderOrNull;
  }

  /** Whether the blobs of a manifest are to be fetched; otherwise they lie on the topic. */
  public boolean isNeededFor(Manifest manifest) {
    return directoryOrNull != null || loaderOrNull != null || manifest.blobs() != null;
  }

  /**
   * The bytes of a blob.
   *
   * @throws IOException if they cannot be had; the message is one sentence with the place
   */
  public ByteBuffer fetch(Manifest manifest, BlobReference blob) throws IOException {
    if (loaderOrNull != null) {
      return loaderOrNull.load(blob);
    }
    URI uri =
        (directoryOrNull == null ? manifest : manifest.withBlobs(directoryOrNull))
            .blobUri(blob.digest());
    String scheme = uri.getScheme();
    if (scheme.equals("file")) {
      return map(uri);
    }
    if (scheme.equals("http") || scheme.equals("https")) {
      return get(uri, blob);
    }
    throw new IOException(
        uri
            + " is of a kind that this client cannot read: give it a loader, or a file: or http: URI");
  }

  private static ByteBuffer map(URI uri) throws IOException {
    try (FileChannel file = FileChannel.open(Path.of(uri), StandardOpenOption.READ)) {
      return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
    } catch (NoSuchFileException e) {
      throw new IOException("there is no " + uri, e);
    } catch (IllegalArgumentException e) {
      throw new IOException(uri + " is no path: " + e.getMessage(), e);
    }
  }

  private ByteBuffer get(URI uri, BlobReference blob) throws IOException {
    if (http == null) {
      http =
          HttpClient.newBuilder()
              .connectTimeout(CONNECT_TIMEOUT)
              .followRedirects(HttpClient.Redirect.NORMAL)
              .build();
    }
    HttpRequest request = HttpRequest.newBuilder(uri).timeout(ANSWER_TIMEOUT).build();
    try {
      HttpResponse<InputStream> response = http.send(request, BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        if (response.statusCode() != OK) {
          throw new IOException(uri + " answers " + response.statusCode());
        }
        return readWithin(deadlineSeconds(blob), body, uri, blob);
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

  private static long deadlineSeconds(BlobReference blob) {
    return ANSWER_TIMEOUT.toSeconds() + blob.bytes() / MIN_BYTES_A_SECOND;
  }

  /** An answer that stops half-way would otherwise be waited for without end. */
  static ByteBuffer readWithin(long seconds, InputStream body, URI uri, BlobReference blob)
      throws IOException {
    AtomicBoolean isLate = new AtomicBoolean();
    CompletableFuture<Void> deadline =
        CompletableFuture.runAsync(
            () -> {
              isLate.set(true);
              close(body);
            },
            CompletableFuture.delayedExecutor(seconds, TimeUnit.SECONDS));
    try {
      // One more would show that it is not this blob.
      byte[] read = body.readNBytes(Math.toIntExact(Math.addExact(blob.bytes(), 1)));
      if (isLate.get()) {
        throw new IOException("closed");
      }
      return ByteBuffer.wrap(read);
    } catch (IOException e) {
      throw isLate.get() ? new IOException(uri + " was not read within " + seconds + " s", e) : e;
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
