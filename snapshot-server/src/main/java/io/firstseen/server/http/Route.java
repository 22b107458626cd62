package io.firstseen.server.http;

import java.util.List;

/**
 * Where an endpoint is found.
 *
 * @param name what metrics call it
 * @param path the path; if it ends with a slash and is longer than that, also every path below it
 * @param methods GET, which allows HEAD, or POST
 * @param takesLong whether a request may take more than some microseconds, so that it is answered
 *     apart from those that do not
 */
public record Route(
    String name, String path, List<String> methods, boolean takesLong, Endpoint endpoint) {

  /** A path that is read. */
  public static Route get(String name, String path, Endpoint endpoint) {
    return new Route(name, path, List.of("GET", "HEAD"), false, endpoint);
  }

  /** A path that takes a body. */
  public static Route post(String name, String path, Endpoint endpoint) {
    return new Route(name, path, List.of("POST"), true, endpoint);
  }

  /** The same, answered apart from requests that take microseconds. */
  public Route slow() {
    return new Route(name, path, methods, true, endpoint);
  }

  boolean matches(String requested) {
    return requested.equals(path)
        || (path.length() > 1 && path.endsWith("/") && requested.startsWith(path));
  }
}
