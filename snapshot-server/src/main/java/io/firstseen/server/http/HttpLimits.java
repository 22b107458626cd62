package io.firstseen.server.http;

import java.time.Duration;

/**
 * Limits on sizes, connections and times.
 *
 * @param maxConnections open connections; further ones get 503 for everything but health
 * @param maxConnectionsPerPeer the same for the connections of one peer: an address, or the first
 *     64 bits of a global one of IPv6
 * @param reservedForHealth how many further connections may be open to ask for health; for one more
 *     the oldest of them is answered by 503 and closed
 * @param maxRequestLineBytes of method, path and query; a longer one is answered by 414
 * @param maxHeaderBytes of all header lines; more are answered by 431
 * @param maxBodyBytes of a request; a longer one is answered by 413
 * @param maxBodiesBytes of the bodies of all current requests and their replies; a request whose
 *     body would exceed it is answered by 503
 * @param requestTimeout from the first byte of a request to its last
 * @param idleTimeout between two requests on a connection
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
  // A batch may take several times its body: keys, answers, and the text of both.
  private static final int HEAP_SHARE = 16;

  /**
   * 1,024 connections, 256 of one peer, 16 for health; 16 KiB each of request line and headers, 1
   * MiB of body, {@link #defaultBodiesBytes}; 10, 60, 30 s.
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

  /** A sixteenth of the heap, but at least 1 MiB and at most 64 MiB. */
  public static long defaultBodiesBytes() {
    long share = Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    return Math.max(DEFAULT_BODY_BYTES, Math.min(share, MAX_DEFAULT_BODIES_BYTES));
  }

  /** A copy with other numbers of connections. */
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

  /** A copy with another length of bodies; if need be, also of all together. */
  public HttpLimits withMaxBodyBytes(int newMaxBodyBytes) {
    return withBodies(newMaxBodyBytes, Math.max(newMaxBodyBytes, maxBodiesBytes));
  }

  /** A copy with another length of all bodies together. */
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

  /** A copy with other times. */
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
