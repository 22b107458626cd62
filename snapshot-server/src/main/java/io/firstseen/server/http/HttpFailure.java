package io.firstseen.server.http;

import java.util.Map;

/** A request that is answered by an error; the message is one sentence. */
public final class HttpFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final transient Map<String, String> headers;

  /** Has no stack trace, since peers can cause it at any rate. */
  public HttpFailure(int status, String sentence) {
    this(status, sentence, Map.of());
  }

  /** With headers of the reply. */
  public HttpFailure(int status, String sentence, Map<String, String> headers) {
    super(sentence, null, false, false);
    this.status = status;
    this.headers = headers;
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  /** The reply: an object with the sentence as its {@code error}. */
  public Reply reply() {
    Reply reply = Reply.error(status, getMessage());
    headers.forEach(reply::header);
    return reply;
  }
}
