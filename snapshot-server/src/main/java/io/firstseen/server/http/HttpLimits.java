package io.firstseen.server.http;

import java.time.Duration;

/**
 * Limits on sizes, connections and times.
 *
 * @param maxConnections open connections; one more is answered by 503 and closed
 * @param maxRequestLineBytes of method, path and query; a longer one is answered by 414
 * @param maxHeaderBytes of all header lines; more are answered by 431
 * @param maxBodyBytes of a request; a longer one is answered by 413
 * @param requestTimeout from the first byte of a request to its last
 * @param idleTimeout between two requests on a connection
 * @param stallTimeout how long a reply may wait for a peer that does not read
 */
public record HttpLimits(
    int maxConnections,
    int maxRequestLineBytes,
    int maxHeaderBytes,
    int maxBodyBytes,
    Duration requestTimeout,
    Duration idleTimeout,
    Duration stallTimeout) {

  /** 1,024 connections, 16 KiB each of request line and headers, 1 MiB of body; 10, 60, 30 s. */
  public static final HttpLimits DEFAULT =
      new HttpLimits(
          1024,
          16 << 10,
          16 << 10,
          1 << 20,
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(30));

  /** Checks the limits. */
  public HttpLimits {
    requirePositive("maxConnections", maxConnections);
    requirePositive("maxRequestLineBytes", maxRequestLineBytes);
    requirePositive("maxHeaderBytes", maxHeaderBytes);
    requirePositive("maxBodyBytes", maxBodyBytes);
    requirePositive("requestTimeout", requestTimeout.toMillis());
    requirePositive("idleTimeout", idleTimeout.toMillis());
    requirePositive("stallTimeout", stallTimeout.toMillis());
  }

  /** A copy with another number of connections. */
  public HttpLimits withMaxConnections(int newMaxConnections) {
    return new HttpLimits(
        newMaxConnections,
        maxRequestLineBytes,
        maxHeaderBytes,
        maxBodyBytes,
        requestTimeout,
        idleTimeout,
        stallTimeout);
  }

  /** A copy with another length of bodies. */
  public HttpLimits withMaxBodyBytes(int newMaxBodyBytes) {
    return new HttpLimits(
        maxConnections,
        maxRequestLineBytes,
        maxHeaderBytes,
        newMaxBodyBytes,
        requestTimeout,
        idleTimeout,
        stallTimeout);
  }

  /** A copy with other times. */
  public HttpLimits withTimeouts(Duration request, Duration idle, Duration stall) {
    return new HttpLimits(
        maxConnections, maxRequestLineBytes, maxHeaderBytes, maxBodyBytes, request, idle, stall);
  }

  private static void requirePositive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be more than 0, got " + value);
    }
  }
}
