package io.firstseen.server.http;

import java.time.Duration;

/**
 * Limits on sizes, connections and times.
 *
 * @param maxConnections the maximum number of open connections; further connections get 503 for all
 *     requests except health checks
 * @param maxConnectionsPerPeer the maximum number of open connections of one peer: an address, or
 *     the first 64 bits of a global IPv6 address
 * @param reservedForHealth how many further connections may be open for health checks; for one
 *     more, the oldest of them gets 503 and is closed
 * @param maxRequestLineBytes the maximum length of method, path and query; longer requests get 414
 * @param maxHeaderBytes the maximum length of all header lines; longer requests get 431
 * @param maxBodyBytes the maximum length of a request's body; longer requests get 413
 * @param maxBodiesBytes the maximum total length of the bodies of all current requests and their
 *     replies; a request whose body would exceed it gets 503
 * @param requestTimeout the maximum time from the first to the last byte of a request
 * @param idleTimeout the maximum time between two requests on a connection
 * @param stallTimeout how long a reply may wait for a peer that does not read
 */
public record HttpLimits(
    int maxConnections,
    int maxConnectionsPerPeer,
    int reservedForHealth,
    int maxRequestLineBytes,
    int maxHeaderBytes,
    int maxBodyBytes,
    long maxBodiesBytes,
    Duration requestTimeout,
    Duration idleTimeout,
    Duration stallTimeout) {

  private static final int DEFAULT_BODY_BYTES = 1 << 20;
  private static final long MAX_DEFAULT_BODIES_BYTES = 64L << 20;
  // A batch may need several times the size of its body: keys, results, and the text of both.
  private static final int HEAP_SHARE = 16;

  /**
   * Creates default limits: 1,024 connections, 256 per peer, 16 for health; 16 KiB each of request
   * line and headers, 1 MiB of body, {@link #defaultBodiesBytes}; 10, 60, 30 s.
   */
  public static final HttpLimits DEFAULT =
      new HttpLimits(
          1024,
          256,
          16,
          16 << 10,
          16 << 10,
          DEFAULT_BODY_BYTES,
          defaultBodiesBytes(),
          Duration.ofSeconds(10),
          Duration.ofSeconds(60),
          Duration.ofSeconds(30));

  /** Checks the limits. */
  public HttpLimits {
    requirePositive("maxConnections", maxConnections);
    requirePositive("maxConnectionsPerPeer", maxConnectionsPerPeer);
    if (reservedForHealth < 0) {
      throw new IllegalArgumentException(
          "reservedForHealth must be at least 0, got " + reservedForHealth);
    }
    requirePositive("maxRequestLineBytes", maxRequestLineBytes);
    requirePositive("maxHeaderBytes", maxHeaderBytes);
    requirePositive("maxBodyBytes", maxBodyBytes);
    if (maxBodiesBytes < maxBodyBytes) {
      throw new IllegalArgumentException(
          "maxBodiesBytes must be at least maxBodyBytes, %d, got %d"
              .formatted(maxBodyBytes, maxBodiesBytes));
    }
    requirePositive("requestTimeout", requestTimeout.toMillis());
    requirePositive("idleTimeout", idleTimeout.toMillis());
    requirePositive("stallTimeout", stallTimeout.toMillis());
  }

  /** Returns a sixteenth of the heap, but at least 1 MiB and at most 64 MiB. */
  public static long defaultBodiesBytes() {
    long share = Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    return Math.max(DEFAULT_BODY_BYTES, Math.min(share, MAX_DEFAULT_BODIES_BYTES));
  }

  /** Returns a copy with different numbers of connections. */
  public HttpLimits withMaxConnections(int inAll, int perPeer, int forHealth) {
    return new HttpLimits(
        inAll,
        perPeer,
        forHealth,
        maxRequestLineBytes,
        maxHeaderBytes,
        maxBodyBytes,
        maxBodiesBytes,
        requestTimeout,
        idleTimeout,
        stallTimeout);
  }

  /**
   * Returns a copy with a different maximum length of bodies; if necessary, also of all bodies
   * together.
   */
  public HttpLimits withMaxBodyBytes(int newMaxBodyBytes) {
    return withBodies(newMaxBodyBytes, Math.max(newMaxBodyBytes, maxBodiesBytes));
  }

  /** Returns a copy with a different maximum length of all bodies together. */
  public HttpLimits withMaxBodiesBytes(long newMaxBodiesBytes) {
    return withBodies(maxBodyBytes, newMaxBodiesBytes);
  }

  private HttpLimits withBodies(int ofOne, long inAll) {
    return new HttpLimits(
        maxConnections,
        maxConnectionsPerPeer,
        reservedForHealth,
        maxRequestLineBytes,
        maxHeaderBytes,
        ofOne,
        inAll,
        requestTimeout,
        idleTimeout,
        stallTimeout);
  }

  /** Returns a copy with different timeouts. */
  public HttpLimits withTimeouts(Duration request, Duration idle, Duration stall) {
    return new HttpLimits(
        maxConnections,
        maxConnectionsPerPeer,
        reservedForHealth,
        maxRequestLineBytes,
        maxHeaderBytes,
        maxBodyBytes,
        maxBodiesBytes,
        request,
        idle,
        stall);
  }

  private static void requirePositive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be more than 0, got " + value);
    }
  }
}
