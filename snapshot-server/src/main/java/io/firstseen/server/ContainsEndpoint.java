package io.firstseen.server;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.nio.charset.StandardCharsets;

/** {@code GET /v1/contains}: whether one key is in a set. */
final class ContainsEndpoint implements Endpoint {
  private final ServedSets sets;
  private final ServiceMetrics metrics;

  ContainsEndpoint(ServedSets sets, ServiceMetrics metrics) {
    this.sets = sets;
    this.metrics = metrics;
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    QueryString query = request.query("key", "scope", "set", "explain");
    byte[] key = query.bytes("key");
    if (key == null) {
      throw new HttpFailure(400, "the parameter key must be given");
    }
    boolean explain = flag("explain", query.text("explain"));
    ServedSet served = sets.named(query.text("set"));
    SnapshotSet set = served.answering();
    Manifest manifest = set.manifest();
    SetParameters parameters = manifest.parameters();
    long hash;
    byte[] canonical;
    try {
      canonical = explain ? parameters.canonicaliser().canonicalise(key) : null;
      hash = parameters.hash(query.bytes("scope"), key, served.keyHash());
    } catch (InvalidKeyException e) {
      metrics.invalidKey(served);
      throw new HttpFailure(400, "the key is invalid: " + e.getMessage());
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
    boolean present = set.mightContain(hash);
    metrics.answered(served, present);
    Reply reply =
        explain
            ? Reply.json(
                200,
                json -> {
                  json.writeStartObject();
                  ContainsReply.writeAnswer(json, key, present, manifest);
                  json.writeStringField("canonical", text(canonical));
                  json.writeNumberField("shard", parameters.shards().shardOf(hash));
                  json.writeNumberField("shards", parameters.shards().count());
                  json.writeEndObject();
                })
            : ContainsReply.of(key, present, manifest);
    return reply.header("cache-control", "no-store");
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
