package io.firstseen.cli.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.serializers.Outcome;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of a run.
 *
 * @param counts the number of events by outcome
 * @param snapshots the number of manifests; null if none were asked for
 * @param seconds how long the job took
 */
record RunSummary(Map<Outcome.Kind, Long> counts, @Nullable Integer snapshots, double seconds) {

  long count(Outcome.Kind kind) {
    return counts.get(kind);
  }

  long events() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private long eventsPerSecond() {
    return Math.round(events() / seconds);
  }

  /** The lines of the table, each ending with a line feed. */
  String table() {
    StringBuilder table = new StringBuilder();
    row(table, "events", SnapshotSummary.number(events()));
    row(table, "accepted", number(Outcome.Kind.ACCEPTED));
    row(table, "duplicates", number(Outcome.Kind.DUPLICATE));
    if (count(Outcome.Kind.FALSE_DUPLICATE) > 0) {
      row(table, "false duplicates", number(Outcome.Kind.FALSE_DUPLICATE));
    }
    row(table, "removed", number(Outcome.Kind.REMOVED));
    row(table, "unknown deletes", number(Outcome.Kind.UNKNOWN_DELETE));
    row(table, "dead letters", number(Outcome.Kind.DEAD_LETTER));
    if (snapshots != null) {
      row(table, "snapshots", SnapshotSummary.number(snapshots));
    }
    row(table, "seconds", SnapshotSummary.decimal(seconds));
    row(table, "events a second", SnapshotSummary.number(eventsPerSecond()));
    return table.toString();
  }

  private String number(Outcome.Kind kind) {
    return SnapshotSummary.number(count(kind));
  }

  private static void row(StringBuilder table, String name, String value) {
    table.append(String.format(Locale.ROOT, "%-20s%s%n", name, value));
  }

  /** The same as fields of a JSON object. */
  ObjectNode json() {
    ObjectNode json = Json.object();
    json.put("events", events());
    json.put("accepted", count(Outcome.Kind.ACCEPTED));
    json.put("duplicates", count(Outcome.Kind.DUPLICATE));
    json.put("falseDuplicates", count(Outcome.Kind.FALSE_DUPLICATE));
    json.put("removed", count(Outcome.Kind.REMOVED));
    json.put("unknownDeletes", count(Outcome.Kind.UNKNOWN_DELETE));
    json.put("deadLetters", count(Outcome.Kind.DEAD_LETTER));
    if (snapshots != null) {
      json.put("snapshots", snapshots);
    }
    json.put("seconds", seconds);
    json.put("eventsPerSecond", eventsPerSecond());
    return json;
  }

  /** One line with the counts of a running job. */
  static String progress(Map<Outcome.Kind, Long> counts) {
    RunSummary soFar = new RunSummary(counts, null, 1);
    return soFar.number(Outcome.Kind.ACCEPTED)
        + " accepted of "
        + SnapshotSummary.number(soFar.events())
        + " events";
  }
}
