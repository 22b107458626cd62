package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.io.IOException;
import java.util.List;

/**
 * {@code POST /v1/contains}: whether many keys are in a set, all looked up in the same snapshot.
 */
final class BatchEndpoint implements Endpoint {
  private final ServedSets sets;
  private final ServiceMetrics metrics;
  private final int maxKeys;

  BatchEndpoint(ServedSets sets, ServiceMetrics metrics, int maxKeys) {
    this.sets = sets;
    this.metrics = metrics;
    this.maxKeys = maxKeys;
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    QueryString query = request.query("scope", "set");
    ServedSet served = sets.named(query.text("set"));
    List<byte[]> keys = BatchKeys.read(request, maxKeys);
    SnapshotSet set = served.answering();
    Manifest manifest = set.manifest();
    byte[] scope = query.bytes("scope");
    return Reply.json(
            200,
            json -> {
              json.writeStartObject();
              json.writeStringField("set", manifest.setName());
              json.writeNumberField("sequence", manifest.sequence());
              json.writeNumberField("windowEndMillis", manifest.windowEndMillis());
              json.writeArrayFieldStart("answers");
              for (byte[] key : keys) {
                write(json, served, set, scope, key);
              }
              json.writeEndArray();
              json.writeEndObject();
            })
        .header("cache-control", "no-store");
  }

  private void write(
      JsonGenerator json, ServedSet served, SnapshotSet set, byte[] scope, byte[] key)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("key", ContainsEndpoint.text(key));
    try {
      boolean present = set.mightContainKey(scope, key, served.keyHash());
      metrics.answered(served, present);
      json.writeBooleanField("present", present);
    } catch (InvalidKeyException e) {
      metrics.invalidKey(served);
      json.writeStringField("error", "the key is invalid: " + e.getMessage());
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
    json.writeEndObject();
  }
}
