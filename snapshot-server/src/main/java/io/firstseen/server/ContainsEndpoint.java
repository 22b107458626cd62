package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** {@code /v1/contains}: whether keys are in a set. */
record ContainsEndpoint(ServedSets sets, ServiceMetrics metrics, int maxKeys) {
  private static final byte[] BEGIN = "{\"key\":\"".getBytes(StandardCharsets.US_ASCII);

  Reply one(Request request) throws HttpFailure {
    QueryString query = request.query("key", "scope", "set", "explain");
    byte[] key = query.required("key");
    boolean explain = flag("explain", query.text("explain"));
    ServedSet served = sets.named(query.text("set"));
    SnapshotSet set = served.answering();
    Manifest manifest = set.manifest();
    SetParameters parameters = manifest.parameters();
    long hash;
    byte[] canonical;
    try {
      canonical = explain ? parameters.canonicaliser().canonicalise(key) : null;
      hash = served.hash(set, query.bytes("scope"), key);
    } catch (InvalidKeyException e) {
      metrics.invalidKey(served);
      throw new HttpFailure(400, "the key is invalid: " + e.getMessage());
    }
    boolean present = set.mightContain(hash);
    metrics.answered(served, present);
    return explain
        ? Reply.json(
            json -> {
              writeAnswer(json, key, present, manifest);
              json.writeStringField("canonical", text(canonical));
              json.writeNumberField("shard", parameters.shards().shardOf(hash));
              json.writeNumberField("shards", parameters.shards().count());
            })
        : reply(key, present, manifest);
  }

  /**
   * The response for one key. Most keys do not need escaping in JSON, and setting up a generator
   * would take longer than the query; for such keys this method writes the bytes directly. They
   * equal the generator's bytes.
   */
  private static Reply reply(byte[] key, boolean present, Manifest manifest) {
    if (!isPlain(key)) {
      return Reply.json(json -> writeAnswer(json, key, present, manifest));
    }
    String rest =
        "\",\"present\":"
            + present
            + ",\"set\":\""
            + manifest.setName()
            + "\",\"sequence\":"
            + manifest.sequence()
            + ",\"windowEndMillis\":"
            + manifest.windowEndMillis()
            + "}\n";
    // A set's name has only characters that JSON does not escape.
    byte[] end = rest.getBytes(StandardCharsets.US_ASCII);
    int length = BEGIN.length + key.length + end.length;
    return Reply.json(ByteBuffer.allocate(length).put(BEGIN).put(key).put(end).array());
  }

  /** Returns whether bytes are ASCII and do not need escaping in JSON. */
  private static boolean isPlain(byte[] key) {
    for (byte each : key) {
      if (each < ' ' || each == '"' || each == '\\') {
        return false;
      }
    }
    return true;
  }

  private static void writeAnswer(
      JsonGenerator json, byte[] key, boolean present, Manifest manifest) throws IOException {
    json.writeStringField("key", text(key));
    json.writeBooleanField("present", present);
    ManifestJson.writeSnapshot(json, manifest);
  }

  /** Looks up many keys in the same snapshot. */
  Reply batch(Request request) throws HttpFailure {
    QueryString query = request.query("scope", "set");
    ServedSet served = sets.named(query.text("set"));
    List<byte[]> keys = BatchKeys.read(request, maxKeys);
    SnapshotSet set = served.answering();
    byte[] scope = query.bytes("scope");
    return Reply.json(
        json -> {
          ManifestJson.writeSnapshot(json, set.manifest());
          json.writeArrayFieldStart("answers");
          for (byte[] key : keys) {
            write(json, served, set, scope, key);
          }
          json.writeEndArray();
        });
  }

  private void write(
      JsonGenerator json, ServedSet served, SnapshotSet set, byte[] scope, byte[] key)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("key", text(key));
    try {
      boolean present = set.mightContain(served.hash(set, scope, key));
      metrics.answered(served, present);
      json.writeBooleanField("present", present);
    } catch (InvalidKeyException e) {
      metrics.invalidKey(served);
      json.writeStringField("error", "the key is invalid: " + e.getMessage());
    }
    json.writeEndObject();
  }

  /** Returns the bytes as text; bytes that are not UTF-8 become U+FFFD. */
  static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  static boolean flag(String name, String value) throws HttpFailure {
    if (value == null || value.equals("false")) {
      return false;
    }
    if (value.equals("true")) {
      return true;
    }
    throw new HttpFailure(400, name + " must be true or false, got '" + value + "'");
  }
}
