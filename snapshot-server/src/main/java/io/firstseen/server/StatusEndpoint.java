package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.consumer.ClientStatus;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.io.IOException;
import java.util.Optional;

/** {@code GET /v1/status}: everything that the page shows. */
record StatusEndpoint(ServedSets sets, long startedMillis) implements Endpoint {
  @Override
  public Reply answer(Request request) throws HttpFailure {
    request.query();
    return Reply.json(
        json -> {
          json.writeNumberField("nowMillis", System.currentTimeMillis());
          json.writeNumberField("startedMillis", startedMillis);
          json.writeArrayFieldStart("sets");
          for (ServedSet set : sets.all()) {
            write(json, set);
          }
          json.writeEndArray();
        });
  }

  private static void write(JsonGenerator json, ServedSet served) throws IOException {
    ClientStatus status = served.status();
    json.writeStartObject();
    json.writeStringField("set", served.name());
    json.writeBooleanField("allow", served.isAllowSet());
    json.writeStringField("state", status.state().name());
    writeSentence(json, "notReady", served.whyNot(status));
    writeSentence(json, "trouble", status.trouble());
    writeSentence(json, "firstSnapshot", served.firstSnapshot(status));
    if (status.snapshot().isPresent()) {
      write(json, served, status.snapshot().get(), status.publishedMillis());
    }
    json.writeArrayFieldStart("published");
    long from = Long.MAX_VALUE;
    for (Manifest each : served.published()) {
      json.writeStartObject();
      json.writeNumberField("sequence", each.sequence());
      json.writeNumberField("windowEndMillis", each.windowEndMillis());
      json.writeNumberField("keys", each.count());
      json.writeNumberField("changeBytes", changeBytes(each, from));
      json.writeEndObject();
      from = each.packBytes();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /** Returns the bytes of the packs since a position; without a position, of the newest pack. */
  private static long changeBytes(Manifest manifest, long from) {
    if (manifest.pack() == null) {
      return 0;
    }
    // A chain that was started again has a lower position than the previous chain.
    return from <= manifest.packBytes() ? manifest.packBytes() - from : manifest.pack().bytes();
  }

  private static void write(
      JsonGenerator json, ServedSet served, SnapshotSet set, long publishedMillis)
      throws IOException {
    Manifest manifest = set.manifest();
    SetParameters parameters = manifest.parameters();
    ServedSet.Figures figures = served.figures(set);
    json.writeNumberField("sequence", manifest.sequence());
    json.writeNumberField("windowStartMillis", manifest.windowStartMillis());
    json.writeNumberField("windowEndMillis", manifest.windowEndMillis());
    json.writeNumberField("publishedMillis", publishedMillis);
    if (manifest.expiresMillis() != null) {
      json.writeNumberField("expiresMillis", manifest.expiresMillis());
    }
    json.writeNumberField("keys", manifest.count());
    json.writeNumberField("bytes", figures.bytes());
    json.writeNumberField("falsePositiveRate", figures.falsePositiveRate());
    json.writeNumberField("falsePositiveRateAskedFor", parameters.falsePositiveRate());
    json.writeStringField("canonicaliser", parameters.canonicaliser().id());
    ManifestJson.writeRules(json, parameters);
    json.writeBooleanField("list", UrlList.isList(parameters) && !served.isAllowSet());
    json.writeStringField("hash", parameters.hashAlgorithm().id());
    json.writeNumberField("shards", parameters.shards().count());
  }

  private static void writeSentence(JsonGenerator json, String name, Optional<String> sentence)
      throws IOException {
    if (sentence.isPresent()) {
      json.writeStringField(name, sentence.get());
    }
  }
}
