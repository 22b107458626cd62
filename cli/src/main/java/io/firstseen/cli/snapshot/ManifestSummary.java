package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import io.firstseen.cli.shared.Rows;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.server.ManifestJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;

/** The content of a manifest, without its blobs. */
record ManifestSummary(Manifest manifest) implements FileSummary {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  @Override
  public String table() {
    Rows rows = new Rows();
    rows.put("kind", "manifest");
    rows.put("set", manifest.setName());
    rows.put("sequence", Long.toString(manifest.sequence()));
    rows.put(
        "window", SnapshotSummary.window(manifest.windowStartMillis(), manifest.windowEndMillis()));
    rows.put("published", Instant.ofEpochMilli(manifest.publishedMillis()).toString());
    if (manifest.expiresMillis() != null) {
      rows.put("expires", Instant.ofEpochMilli(manifest.expiresMillis()).toString());
    }
    rows.put("keys", manifest.count());
    rows.put("shards", manifest.parameters().shards().count());
    return rows + proof(manifest);
  }

  /** What leads to the set of a manifest, and proves it, as lines of a table. */
  static String proof(Manifest manifest) {
    Rows rows = new Rows();
    rows.put("root", manifest.root());
    rows.put("newest pack", manifest.pack() == null ? "none" : PackSummary.text(manifest.pack()));
    rows.put("bytes of all packs", manifest.packBytes());
    if (manifest.blobs() != null) {
      rows.put("blobs", manifest.blobs().toASCIIString());
    }
    rows.put(
        "signature",
        manifest.signature() == null ? "none" : "by key " + manifest.signature().key());
    return rows.toString();
  }

  /** The fields of a manifest as the HTTP service shows them. */
  static ObjectNode json(Manifest manifest) {
    try (TokenBuffer buffer = new TokenBuffer(MAPPER, false)) {
      ManifestJson.write(buffer, manifest);
      return MAPPER.readTree(buffer.asParser());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public ObjectNode json() {
    return json(manifest).put("kind", "manifest");
  }

  @Override
  public String sentence() {
    return "a manifest of sequence %d, %s; its blobs were not read"
        .formatted(
            manifest.sequence(),
            manifest.signature() == null
                ? "not signed"
                : "with a signature by key " + manifest.signature().key());
  }

  @Override
  public void verify() {
    // All of it was checked when it was read.
  }
}
