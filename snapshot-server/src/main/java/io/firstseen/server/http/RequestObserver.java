package io.firstseen.server.http;

import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Receives an event for each request and each refused connection. Called by several threads at a
 * time.
 */
public interface RequestObserver {
  /**
   * A request was answered, or refused before routing.
   *
   * @param remote the peer's address; null if the connection is gone
   * @param method the method; null if the request could not be read
   * @param path the path without the query; null if the request could not be read
   * @param route the name of the route; {@code other} if there is none
   * @param status the status of the reply
   * @param bytes of the reply's body
   * @param nanos time from the request's last byte until the reply was handed to the network, or
   *     until the peer had read it if the reply is long
   */
  default void onRequest(
      @Nullable SocketAddress remote,
      @Nullable String method,
      @Nullable String path,
      String route,
      int status,
      long bytes,
      long nanos) {}

  /** A connection was refused because there were too many. */
  default void onConnectionRefused() {}
}
