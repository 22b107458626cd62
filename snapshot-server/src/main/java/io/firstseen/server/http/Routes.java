package io.firstseen.server.http;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** All routes of a service. */
final class Routes {
  static final String OTHER = "other";

  private final List<Route> routes;

  Routes(List<Route> routes) {
    this.routes = List.copyOf(routes);
  }

  /** Returns whether a path only matches health checks. */
  boolean areForHealth(String path) {
    return routes.stream().filter(route -> route.matches(path)).anyMatch(Route::isForHealth);
  }

  boolean areOpen(String path) {
    return routes.stream().filter(route -> route.matches(path)).anyMatch(Route::isOpen);
  }

  /**
   * Returns the route of a request.
   *
   * @throws HttpFailure with 404 if the path is unknown, with 405 if the method is not allowed
   */
  Route find(String method, String path) throws HttpFailure {
    for (Route route : routes) {
      if (route.matches(path) && route.methods().contains(method)) {
        return route;
      }
    }
    List<String> allowed = new ArrayList<>();
    for (Route route : routes) {
      if (route.matches(path)) {
        allowed.addAll(route.methods());
      }
    }
    if (allowed.isEmpty()) {
      throw new HttpFailure(404, "there is nothing at " + path);
    }
    String methods = String.join(", ", allowed);
    throw new HttpFailure(
        405, path + " allows " + methods + ", got " + method, Map.of("allow", methods));
  }
}
