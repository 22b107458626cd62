package io.firstseen.server;

import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** {@code GET /healthz}: the process is alive; {@code GET /readyz}: it can answer queries. */
record HealthEndpoints(ServedSets sets, BooleanSupplier endsSoon) {
  Reply health(Request request) throws HttpFailure {
    request.query();
    return status("alive");
  }

  Reply readiness(Request request) throws HttpFailure {
    request.query();
    if (endsSoon.getAsBoolean()) {
      throw new HttpFailure(503, "the service is shutting down");
    }
    Optional<String> reason = sets.whyNotReady();
    if (reason.isPresent()) {
      throw new HttpFailure(503, reason.get());
    }
    return status("ready");
  }

  private static Reply status(String word) {
    return Reply.json(json -> json.writeStringField("status", word));
  }
}
