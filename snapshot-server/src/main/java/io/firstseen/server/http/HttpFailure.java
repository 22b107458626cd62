package io.firstseen.server.http;

import java.util.Map;

/** Thrown if the reply to a request is an error. */
public final class HttpFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final transient Map<String, String> headers;

  /** Has no stack trace, because peers can cause it at any rate. */
  public HttpFailure(int status, String sentence) {
    this(status, sentence, Map.of());
  }

  /** Creates the failure with headers of the reply. */
  public HttpFailure(int status, String sentence, Map<String, String> headers) {
    super(sentence, null, false, false);
    this.status = status;
    this.headers = headers;
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  /** Returns the reply: an object with the message as its {@code error}. */
  public Reply reply() {
    Reply reply = Reply.error(status, getMessage());
    headers.forEach(reply::header);
    return reply;
  }
}
