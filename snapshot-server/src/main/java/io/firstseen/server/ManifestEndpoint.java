package io.firstseen.server;

import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.ImmutableContent;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.nio.ByteBuffer;

/** {@code GET /v1/manifest}: what answers, as it was published. */
final class ManifestEndpoint implements Endpoint {
  private final ServedSets sets;

  ManifestEndpoint(ServedSets sets) {
    this.sets = sets;
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    ServedSet served = sets.named(request.query("set").text("set"));
    byte[] json = served.answering().manifest().toJson();
    return new ImmutableContent(
            "application/json", Sha256.hex(json), ByteBuffer.wrap(json), "no-cache")
        .answer(request);
  }
}
