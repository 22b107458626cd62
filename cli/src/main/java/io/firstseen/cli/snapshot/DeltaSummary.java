package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDelta;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotParameters;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The figures of a delta, for people as a table and for machines as JSON. */
final class DeltaSummary {
  private final SnapshotDelta delta;
  private final SnapshotHeader header;

  DeltaSummary(SnapshotDelta delta) {
    this.delta = delta;
    this.header = delta.header();
  }

  /** The lines of the table, each ending with a line feed. */
  String table() {
    SnapshotParameters parameters = header.parameters();
    SetParameters set = parameters.set();
    long changes = delta.addedCount() + delta.removedCount();
    Map<String, String> rows = new LinkedHashMap<>();
    rows.put("set", parameters.setName());
    rows.put("sequence", Long.toString(parameters.sequence()));
    rows.put(
        "window",
        SnapshotSummary.window(parameters.windowStartMillis(), parameters.windowEndMillis()));
    rows.put("shard", parameters.shard() + " of " + set.shards().count());
    rows.put("keys behind it", SnapshotSummary.number(header.hashCount()));
    rows.put("added values", SnapshotSummary.number(delta.addedCount()));
    rows.put("removed values", SnapshotSummary.number(delta.removedCount()));
    rows.put("bytes", SnapshotSummary.number(bytes()));
    rows.put(
        "bits a change",
        changes == 0 ? "-" : SnapshotSummary.decimal((double) header.payloadBits() / changes));
    rows.put("changes the set", header.parentDigest());
    rows.put("leads to the set", header.setDigest());
    StringBuilder table = new StringBuilder();
    rows.forEach(
        (name, value) -> table.append(String.format(Locale.ROOT, "%-20s%s%n", name, value)));
    return table.toString();
  }

  /** The same as fields of a JSON object. */
  ObjectNode json() {
    SnapshotParameters parameters = header.parameters();
    ObjectNode json = Json.object();
    json.put("set", parameters.setName());
    json.put("sequence", parameters.sequence());
    json.put("windowStartMillis", parameters.windowStartMillis());
    json.put("windowEndMillis", parameters.windowEndMillis());
    json.put("shard", parameters.shard());
    json.put("shards", parameters.set().shards().count());
    json.put("keys", header.hashCount());
    json.put("values", header.count());
    json.put("range", header.universe().range());
    json.put("added", delta.addedCount());
    json.put("removed", delta.removedCount());
    json.put("bytes", bytes());
    json.put("payloadBits", header.payloadBits());
    json.put("parentSetDigest", header.parentDigest());
    json.put("setDigest", header.setDigest());
    return json;
  }

  long bytes() {
    return delta.asByteBuffer().remaining();
  }
}
