package io.firstseen.cli.savepoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.operators.dedup.DedupSavepoint;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The results of a bootstrap.
 *
 * @param events how many were read, including dead letters
 * @param made the content of the savepoint, read back
 * @param readSeconds the time to read the input
 * @param seconds the total time
 */
record BootstrapSummary(
    Path savepoint,
    long events,
    long deadLetters,
    DedupSavepoint made,
    double readSeconds,
    double seconds) {

  private long eventsPerSecond() {
    return Math.round(events / seconds);
  }

  /** The lines of the table, each ending with a line feed. */
  String table() {
    StringBuilder table = new StringBuilder();
    row(table, "savepoint", savepoint.toString());
    row(table, "events", SnapshotSummary.number(events));
    row(table, "dead letters", SnapshotSummary.number(deadLetters));
    row(table, "keys", SnapshotSummary.number(made.keys()));
    row(table, "bytes", SnapshotSummary.number(made.stateBytes()));
    row(table, "rate predicted", SavepointSummary.rate(made.predictedFalsePositiveRate()));
    row(table, "seconds to read", SnapshotSummary.decimal(readSeconds));
    row(table, "seconds", SnapshotSummary.decimal(seconds));
    row(table, "events a second", SnapshotSummary.number(eventsPerSecond()));
    return table.toString();
  }

  private static void row(StringBuilder table, String name, String value) {
    table.append(String.format(Locale.ROOT, "%-20s%s%n", name, value));
  }

  /** The same as fields of a JSON object. */
  ObjectNode json() {
    ObjectNode json = Json.object();
    json.put("savepoint", savepoint.toString());
    json.put("events", events);
    json.put("deadLetters", deadLetters);
    json.put("keys", made.keys());
    json.put("bytes", made.stateBytes());
    json.put("predictedFalsePositiveRate", made.predictedFalsePositiveRate());
    json.put("readSeconds", readSeconds);
    json.put("seconds", seconds);
    json.put("eventsPerSecond", eventsPerSecond());
    return json;
  }
}
