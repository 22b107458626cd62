package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.TokenBuffer;
import io.firstseen.cli.shared.Fields;
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
  public Fields fields() {
    Fields fields =
        new Fields()
            .row("kind", "manifest")
            .row("set", manifest.setName())
            .row("sequence", manifest.sequence())
            .row(
                "window",
                SnapshotSummary.window(manifest.windowStartMillis(), manifest.windowEndMillis()))
            .row("published", Instant.ofEpochMilli(manifest.publishedMillis()));
    if (manifest.expiresMillis() != null) {
      fields.row("expires", Instant.ofEpochMilli(manifest.expiresMillis()));
    }
    fields
        .row("keys", number(manifest.count()))
        .row("shards", number(manifest.parameters().shards().count()));
    addTo(fields, manifest);
    return fields.json("kind", "manifest");
  }

  /** Adds all fields of a manifest to the JSON, and what proves its set to the table. */
  static void addTo(Fields fields, Manifest manifest) {
    fields
        .row("root", manifest.root())
        .row("newest pack", manifest.pack() == null ? "none" : PackSummary.text(manifest.pack()))
        .row("bytes of all packs", number(manifest.packBytes()));
    if (manifest.blobs() != null) {
      fields.row("blobs", manifest.blobs().toASCIIString());
    }
    fields.row(
        "signature",
        manifest.signature() == null ? "none" : "by key " + manifest.signature().key());
    fields.json().setAll(json(manifest));
  }

  /** The fields of a manifest as the HTTP service shows them. */
  private static ObjectNode json(Manifest manifest) {
    try (TokenBuffer buffer = new TokenBuffer(MAPPER, false)) {
      ManifestJson.write(buffer, manifest);
      return MAPPER.readTree(buffer.asParser());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
