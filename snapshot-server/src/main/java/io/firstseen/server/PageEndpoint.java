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
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The files of the page at {@code /}, and below {@link #MODULES} the modules of the JavaScript
 * client, with which the page can run queries locally. The build takes them from {@code
 * clients/javascript}.
 */
final class PageEndpoint implements Endpoint {
  static final String MODULES = "/firstseen/";

  // Names without dots except in the extension, so that no name refers to a file outside the
  // directory.
  private static final Pattern NAME =
      Pattern.compile("(firstseen/(lib/)?)?[a-z0-9-]+\\.(html|css|js)");

  private static final Map<String, String> TYPES =
      Map.of("html", "text/html", "css", "text/css", "js", "text/javascript");

  // Load from this server only; no inline scripts or styles; no framing.
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
          + " data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private final Map<String, ImmutableContent> files = new ConcurrentHashMap<>();

  @Override
  public Reply answer(Request request) throws HttpFailure {
    String name = request.path().equals("/") ? "page.html" : request.path().substring(1);
    ImmutableContent content =
        NAME.matcher(name).matches() ? files.computeIfAbsent(name, PageEndpoint::read) : null;
    if (content == null) {
      throw new HttpFailure(404, "there is no module of that name");
    }
    request.query();
    return content
        .answer(request)
        .header("content-security-policy", POLICY)
        .header("referrer-policy", "no-referrer");
  }

  private static @Nullable ImmutableContent read(String name) {
    try (InputStream file = PageEndpoint.class.getResourceAsStream("page/" + name)) {
      if (file == null) {
        return null;
      }
      byte[] bytes = file.readAllBytes();
      String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1)) + "; charset=utf-8";
      return new ImmutableContent(type, Sha256.hex(bytes), ByteBuffer.wrap(bytes), "no-cache");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
