package io.firstseen.consumer.internal;

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
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** GET requests with limits on the time and the length of a response. */
final class HttpFetch {
  static final int OK = 200;
  static final int NOT_MODIFIED = 304;

  // An object store returns 403 for a missing object to clients that may not list its objects.
  private static final Set<Integer> MISSING = Set.of(403, 404, 410);
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final long MIN_BYTES_A_SECOND = 100_000;

  private final Duration answerTimeout;
  private @Nullable HttpClient http;

  HttpFetch(Duration answerTimeout) {
    this.answerTimeout = answerTimeout;
  }

  /**
   * A response.
   *
   * @param body empty unless the status is 200
   */
  record Reply(URI uri, int status, Optional<String> etag, ByteBuffer body) {

    boolean isMissing() {
      return MISSING.contains(status);
    }

    String problem() {
      return uri + " answers " + status;
    }
  }

  /**
   * Sends a request.
   *
   * @param etag the version that the client has; null for none
   * @param maxBytes the length at which the body is cut off
   * @throws IOException if there is no complete response in time
   */
  Reply get(URI uri, @Nullable String etag, long maxBytes) throws IOException {
    if (http == null) {
      http =
          HttpClient.newBuilder()
              .connectTimeout(CONNECT_TIMEOUT)
              .followRedirects(HttpClient.Redirect.NORMAL)
              .build();
    }
    HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(answerTimeout);
    if (etag != null) {
      request.header("If-None-Match", etag);
    }
    try {
      HttpResponse<InputStream> response = http.send(request.build(), BodyHandlers.ofInputStream());
      try (InputStream body = response.body()) {
        return new Reply(
            uri,
            response.statusCode(),
            response.headers().firstValue("ETag"),
            response.statusCode() == OK
                ? readWithin(
                    answerTimeout.toMillis() + maxBytes * 1_000 / MIN_BYTES_A_SECOND,
                    body,
                    uri,
                    maxBytes)
                : ByteBuffer.allocate(0));
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

  /** Bounds the wait for a response body that stops half-way. */
  private static ByteBuffer readWithin(long millis, InputStream body, URI uri, long maxBytes)
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
      ByteBuffer read = ByteBuffer.wrap(body.readNBytes((int) maxBytes));
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
