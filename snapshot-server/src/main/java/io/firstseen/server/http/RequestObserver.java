package io.firstseen.server.http;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Receives an event for each request and each rejected connection. Called by several threads
 * concurrently.
 */
public interface RequestObserver {
  /**
   * A request that was answered, or rejected before routing.
   *
   * @param remote the peer's address; null if the connection was closed
   * @param method the method; null if the request could not be read
   * @param path the path without the query; null if the request could not be read
   * @param route the name of the route; {@code other} if no route matches
   * @param status the status of the reply
   * @param bytes the length of the reply's body
   * @param nanos the time from the request's last byte until the reply was passed to the network,
   *     or until the peer had read it if the reply is long
   */
  record Answered(
      @Nullable SocketAddress remote,
      @Nullable String method,
      @Nullable String path,
      String route,
      int status,
      long bytes,
      long nanos) {}

  /** Called when a request was answered, or rejected before routing. */
  default void onRequest(Answered request) {}

  /** Called when a connection was rejected because there were too many. */
  default void onConnectionRefused() {}
}
