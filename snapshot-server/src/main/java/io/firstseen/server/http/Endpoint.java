package io.firstseen.server.http;

/** Handles requests to one path. Called by several threads concurrently. */
@FunctionalInterface
public interface Endpoint {
  /**
   * Returns the reply to a request.
   *
   * @throws HttpFailure if the reply is an error
   */
  Reply answer(Request request) throws HttpFailure;
}
