package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestSignature;
import io.firstseen.filters.snapshot.SetParameters;
import java.io.IOException;
import java.util.HexFormat;

/** A manifest in JSON, for people and for programs that do not verify signatures. */
public final class ManifestJson {

  private ManifestJson() {}

  /** Writes an object with all fields of a manifest; absent fields are omitted. */
  public static void write(JsonGenerator json, Manifest manifest) throws IOException {
    json.writeStartObject();
    json.writeStringField("set", manifest.setName());
    json.writeNumberField("sequence", manifest.sequence());
    json.writeNumberField("windowStartMillis", manifest.windowStartMillis());
    json.writeNumberField("windowEndMillis", manifest.windowEndMillis());
    json.writeNumberField("publishedMillis", manifest.publishedMillis());
    if (manifest.expiresMillis() != null) {
      json.writeNumberField("expiresMillis", manifest.expiresMillis());
    }
    writeParameters(json, manifest.parameters());
    json.writeNumberField("count", manifest.count());
    json.writeStringField("root", manifest.root());
    BlobReference pack = manifest.pack();
    if (pack != null) {
      json.writeObjectFieldStart("pack");
      json.writeStringField("digest", pack.digest());
      json.writeNumberField("bytes", pack.bytes());
      json.writeEndObject();
    }
    json.writeNumberField("packBytes", manifest.packBytes());
    if (manifest.blobs() != null) {
      json.writeStringField("blobs", manifest.blobs().toASCIIString());
    }
    ManifestSignature signature = manifest.signature();
    if (signature != null) {
      json.writeObjectFieldStart("signature");
      json.writeStringField("key", signature.key());
      json.writeStringField("value", signature.value());
      json.writeEndObject();
    }
    json.writeEndObject();
  }

  /** Writes the fields that identify the snapshot of a reply. */
  static void writeSnapshot(JsonGenerator json, Manifest manifest) throws IOException {
    json.writeStringField("set", manifest.setName());
    json.writeNumberField("sequence", manifest.sequence());
    json.writeNumberField("windowEndMillis", manifest.windowEndMillis());
  }

  private static void writeParameters(JsonGenerator json, SetParameters parameters)
      throws IOException {
    json.writeStringField("hash", parameters.hashAlgorithm().id());
    json.writeStringField("keyCheck", HexFormat.of().toHexDigits(parameters.keyCheck()));
    json.writeStringField("canonicaliser", parameters.canonicaliser().id());
    json.writeNumberField("canonicaliserVersion", parameters.canonicaliserVersion());
    writeRules(json, parameters);
    json.writeNumberField("shards", parameters.shards().count());
    json.writeNumberField("falsePositiveRate", parameters.falsePositiveRate());
  }

  /**
   * Writes the patterns of the parameters that are stripped from URLs of the set, and the rule for
   * near-duplicates, if there are any.
   */
  static void writeRules(JsonGenerator json, SetParameters parameters) throws IOException {
    String stripped = parameters.canonicaliser().strippedParameters();
    if (!stripped.isEmpty()) {
      json.writeStringField("strippedParameters", stripped);
    }
    if (parameters.near() != null) {
      json.writeStringField("near", parameters.near().toString());
    }
  }
}
