package io.firstseen.server.http;

import java.util.List;

/**
 * The path and methods of an endpoint.
 *
 * @param name its name in metrics
 * @param path the path; if it ends with a slash and is not just a slash, also every path below it
 * @param methods GET, which allows HEAD, or POST
 * @param takesLong whether a request may take more than a few microseconds, so that it does not run
 *     on the connection's event loop
 * @param isForHealth whether connections beyond the limits may also request it
 * @param isOpen whether it does not require a token
 */
public record Route(
    String name,
    String path,
    List<String> methods,
    boolean takesLong,
    boolean isForHealth,
    boolean isOpen,
    Endpoint endpoint) {

  /** Returns a route for GET. */
  public static Route get(String name, String path, Endpoint endpoint) {
    return new Route(name, path, List.of("GET", "HEAD"), false, false, false, endpoint);
  }

  /** Returns a route for POST. */
  public static Route post(String name, String path, Endpoint endpoint) {
    return new Route(name, path, List.of("POST"), true, false, false, endpoint);
  }

  /** Returns a copy whose requests may take long, see {@link #takesLong}. */
  public Route slow() {
    return new Route(name, path, methods, true, isForHealth, isOpen, endpoint);
  }

  /** Returns an open copy that connections beyond the limits may also request. */
  public Route forHealth() {
    return new Route(name, path, methods, takesLong, true, true, endpoint);
  }

  /** Returns a copy that does not require a token, see {@link #isOpen}. */
  public Route open() {
    return new Route(name, path, methods, takesLong, isForHealth, true, endpoint);
  }

  boolean matches(String requested) {
    return requested.equals(path)
        || (path.length() > 1 && path.endsWith("/") && requested.startsWith(path));
  }
}
