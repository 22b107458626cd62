package io.firstseen.server.http;

/** Answers requests to one path. Called by several threads at a time. */
@FunctionalInterface
public interface Endpoint {
  /**
   * The reply to a request.
   *
   * @throws HttpFailure if the reply is an error
   */
  Reply answer(Request request) throws HttpFailure;
}
