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

/** {@code POST /v1/contains}: whether many keys are in a set, all by the same snapshot. */
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
    List<byte[]> keys = BatchKeys.read(request.header("content-type"), request.body(), maxKeys);
    SnapshotSet set = served.answering();
    Manifest manifest = set.manifest();
    byte[] scope = query.bytes("scope");
    long[] hashes = new long[keys.size()];
    String[] whyInvalid = new String[keys.size()];
    for (int i = 0; i < hashes.length; i++) {
      try {
        hashes[i] = manifest.parameters().hash(scope, keys.get(i), served.keyHash());
      } catch (InvalidKeyException e) {
        whyInvalid[i] = e.getMessage();
      } catch (SnapshotException e) {
        throw new IllegalStateException("a manifest of another hash key became active", e);
      }
    }
    boolean[] present = new boolean[hashes.length];
    set.mightContainEach(hashes, 0, hashes.length, present);
    return Reply.json(
            200,
            json -> {
              json.writeStartObject();
              json.writeStringField("set", manifest.setName());
              json.writeNumberField("sequence", manifest.sequence());
              json.writeNumberField("windowEndMillis", manifest.windowEndMillis());
              json.writeArrayFieldStart("answers");
              for (int i = 0; i < hashes.length; i++) {
                write(json, served, keys.get(i), present[i], whyInvalid[i]);
              }
              json.writeEndArray();
              json.writeEndObject();
            })
        .header("cache-control", "no-store");
  }

  private void write(
      JsonGenerator json, ServedSet served, byte[] key, boolean present, String whyInvalid)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("key", ContainsEndpoint.text(key));
    if (whyInvalid == null) {
      metrics.answered(served, present);
      json.writeBooleanField("present", present);
    } else {
      metrics.invalidKey(served);
      json.writeBooleanField("present", false);
      json.writeStringField("error", "the key is invalid: " + whyInvalid);
    }
    json.writeEndObject();
  }
}
