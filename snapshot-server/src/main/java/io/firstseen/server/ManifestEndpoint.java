package io.firstseen.server;

import io.firstseen.consumer.ClientStatus;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.ImmutableContent;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.nio.ByteBuffer;

/**
 * {@code GET /v1/manifest}: the current manifest, as it was published, or rewritten to name full
 * snapshots only.
 */
final class ManifestEndpoint implements Endpoint {
  private final ServedSets sets;

  ManifestEndpoint(ServedSets sets) {
    this.sets = sets;
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    QueryString query = request.query("set", "bases");
    boolean bases = ContainsEndpoint.flag("bases", query.text("bases"));
    ServedSet served = sets.named(query.text("set"));
    ClientStatus status = served.requireAnswering();
    ImmutableContent manifest =
        bases
            ? served.manifestOfBases(status.snapshot().orElseThrow())
            : content(status.manifestJson().orElseThrow());
    return manifest.answer(request);
  }

  static ImmutableContent content(ByteBuffer json) {
    return new ImmutableContent("application/json", Sha256.hex(json), json, "no-cache");
  }
}
