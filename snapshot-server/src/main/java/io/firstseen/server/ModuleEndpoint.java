package io.firstseen.server;

import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * {@code GET /firstseen/FILE}: the modules of the JavaScript client, with which the page can run
 * queries locally. The build takes them from {@code clients/javascript}.
 */
final class ModuleEndpoint implements Endpoint {
  static final String PATH = "/firstseen/";

  // Names without dots except in the extension, so that no name refers to a file outside the
  // directory.
  private static final Pattern NAME = Pattern.compile("(lib/)?[a-z0-9-]+\\.js");

  private final Map<String, PageEndpoint> files = new ConcurrentHashMap<>();

  @Override
  public Reply answer(Request request) throws HttpFailure {
    String name = request.path().substring(PATH.length());
    if (!NAME.matcher(name).matches() || !PageEndpoint.exists("firstseen/" + name)) {
      throw new HttpFailure(404, "there is no module of that name");
    }
    return files
        .computeIfAbsent(
            name, file -> new PageEndpoint("firstseen/" + file, PageEndpoint.JAVASCRIPT))
        .answer(request);
  }
}
