package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.NearTexts;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.io.IOException;
import java.util.List;

/** {@code /v1/resembles}: whether texts resemble live texts of a set with near-duplicates. */
record ResemblesEndpoint(ServedSets sets, ServiceMetrics metrics, int maxTexts) {
  /** A snapshot of a set, in which texts are looked up. */
  private record Queried(ServedSet served, Manifest manifest, NearTexts texts) {}

  private Queried queried(QueryString query) throws HttpFailure {
    ServedSet served = sets.named(query.text("set"));
    var set = served.answering();
    try {
      return new Queried(served, set.manifest(), NearTexts.of(set, served.keyHash()));
    } catch (IllegalArgumentException e) {
      throw new HttpFailure(400, e.getMessage());
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
  }

  Reply one(Request request) throws HttpFailure {
    QueryString query = request.query("text", "scope", "set");
    byte[] text = query.required("text");
    Queried queried = queried(query);
    int equalBands;
    try {
      equalBands = resembles(queried, query.bytes("scope"), text);
    } catch (InvalidKeyException e) {
      throw new HttpFailure(400, "the text is invalid: " + e.getMessage());
    }
    return Reply.json(
        json -> {
          json.writeStringField("text", ContainsEndpoint.text(text));
          writeAnswer(json, queried, equalBands);
          ManifestJson.writeSnapshot(json, queried.manifest());
        });
  }

  /** Looks up many texts in the same snapshot. */
  Reply batch(Request request) throws HttpFailure {
    QueryString query = request.query("scope", "set");
    List<byte[]> texts = BatchKeys.read(request, maxTexts);
    Queried queried = queried(query);
    byte[] scope = query.bytes("scope");
    return Reply.json(
        json -> {
          ManifestJson.writeSnapshot(json, queried.manifest());
          json.writeArrayFieldStart("answers");
          for (byte[] text : texts) {
            json.writeStartObject();
            json.writeStringField("text", ContainsEndpoint.text(text));
            try {
              writeAnswer(json, queried, resembles(queried, scope, text));
            } catch (InvalidKeyException e) {
              json.writeStringField("error", "the text is invalid: " + e.getMessage());
            }
            json.writeEndObject();
          }
          json.writeEndArray();
        });
  }

  private int resembles(Queried queried, byte[] scope, byte[] text) throws InvalidKeyException {
    try {
      int equalBands = queried.texts().resembles(scope, text);
      metrics.answered(queried.served(), equalBands > 0);
      return equalBands;
    } catch (InvalidKeyException e) {
      metrics.invalidKey(queried.served());
      throw e;
    }
  }

  private static void writeAnswer(JsonGenerator json, Queried queried, int equalBands)
      throws IOException {
    json.writeBooleanField("present", equalBands > 0);
    json.writeNumberField("equalBands", equalBands);
    json.writeNumberField("bands", queried.texts().rule().bands());
  }
}
