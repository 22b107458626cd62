package io.firstseen.server;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.ImmutableContent;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.nio.ByteBuffer;

/**
 * {@code GET /v1/manifest}: the current manifest, as published, or a manifest of bases that the
 * service builds; in JSON for clients that accept JSON, and for browsers.
 */
record ManifestEndpoint(ServedSets sets) implements Endpoint {
  @Override
  public Reply answer(Request request) throws HttpFailure {
    QueryString query = request.query("set", "bases");
    boolean bases = ContainsEndpoint.flag("bases", query.text("bases"));
    ServedSet served = sets.named(query.text("set"));
    Manifest manifest = bases ? served.manifestOfBases() : served.answering().manifest();
    String accept = request.header("accept");
    ImmutableContent content =
        accept != null && (accept.contains("application/json") || accept.contains("text/html"))
            ? content(
                "application/json", Reply.jsonBytes(json -> ManifestJson.write(json, manifest)))
            : content("application/octet-stream", manifest.toBytes());
    return content.answer(request).header("vary", "accept");
  }

  private static ImmutableContent content(String contentType, byte[] bytes) {
    return new ImmutableContent(contentType, Sha256.hex(bytes), ByteBuffer.wrap(bytes), "no-cache");
  }
}
