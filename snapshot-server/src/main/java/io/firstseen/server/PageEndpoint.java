package io.firstseen.server;

import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.ImmutableContent;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/** A file of the page at {@code /}. */
final class PageEndpoint implements Endpoint {
  static final String JAVASCRIPT = "text/javascript; charset=utf-8";

  // Load from this server only; no inline scripts or styles; no framing.
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
          + " data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final ImmutableContent content;

  /** Returns whether a file of this name exists; names have no dots except in the extension. */
  static boolean exists(String fileName) {
    return PageEndpoint.class.getResource("page/" + fileName) != null;
  }

  PageEndpoint(String fileName, String contentType) {
    byte[] bytes;
    try (InputStream file = PageEndpoint.class.getResourceAsStream("page/" + fileName)) {
      bytes = file.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.content =
        new ImmutableContent(contentType, Sha256.hex(bytes), ByteBuffer.wrap(bytes), "no-cache");
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    request.query();
    return content
        .answer(request)
        .header("content-security-policy", POLICY)
        .header("referrer-policy", "no-referrer");
  }
}
