package io.firstseen.server.http;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request that has arrived in full. */
public final class Request {
  private final String method;
  private final String path;
  private final String query;
  private final HttpHeaders headers;
  private final byte[] body;

  Request(String method, String path, String query, HttpHeaders headers, byte[] body) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.body = body;
  }

  /** GET, HEAD or POST. */
  public String method() {
    return method;
  }

  /** Returns the path as received, without the query. */
  public String path() {
    return path;
  }

  /**
   * Returns the parameters of the query.
   *
   * @param names the allowed parameters
   * @throws HttpFailure with 400 if a parameter is unknown, repeated or wrongly encoded
   */
  public QueryString query(String... names) throws HttpFailure {
    return QueryString.parse(query, null, names);
  }

  /**
   * Like {@link #query}, with an additional parameter that may be repeated.
   *
   * @param repeatable the name of this parameter
   */
  public QueryString queryRepeating(String repeatable, String... names) throws HttpFailure {
    return QueryString.parse(query, repeatable, names);
  }

  /**
   * Returns the value of a header; values of a repeated header are separated by commas; null if it
   * is absent.
   */
  public @Nullable String header(String name) {
    List<String> values = headers.getAll(name);
    return values.isEmpty() ? null : String.join(", ", values);
  }

  /** Returns the body; empty if the request has no body. Not a copy. */
  public byte[] body() {
    return body;
  }
}
