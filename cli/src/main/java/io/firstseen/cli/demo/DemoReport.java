package io.firstseen.cli.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import java.util.List;
import java.util.Locale;

/**
 * What a demo did and what its checks found.
 *
 * @param seconds from the first event sent to the last outcome committed
 * @param snapshots how many snapshots the client answered from
 * @param last the snapshot that the client answers from at the end
 */
record DemoReport(
    DemoSettings settings,
    ObservedOutcomes observed,
    double seconds,
    long snapshots,
    SnapshotSummary last,
    List<Check> checks,
    double nanosPerQuery) {

  private static final String NEXT =
      "%nSnapshots to keep and to query, from the same stream:%n"
          + "  ./firstseen run --input examples/phishing-domains-small.tsv.gz --format tsv \\%n"
          + "    --canonicaliser url --window 1d --accepted accepted.tsv --snapshots snapshots%n"
          + "  ./firstseen snapshot query snapshots example.org%n";
  private static final String CHECK_COLUMNS = "%s %-36s %7s %8s %8s %8s %9s%n";

  boolean holds() {
    return checks.stream().allMatch(Check::holds);
  }

  private long eventsPerSecond() {
    return Math.round(observed.outcomes() / seconds);
  }

  private double bitsPerKey() {
    return last.keys() == 0 ? 0 : 8.0 * last.bytes() / last.keys();
  }

  /** For people. */
  String table() {
    StringBuilder table = new StringBuilder();
    figure(
        table,
        "events",
        observed.outcomes(),
        "in %.1f s, %,d a second",
        seconds,
        eventsPerSecond());
    figure(table, "accepted", observed.acceptedRecords(), "keys seen for the first time");
    figure(table, "duplicates", observed.duplicates(), "repeats, spelled in several ways");
    figure(table, "deleted", observed.removals(), "keys taken out again");
    figure(table, "unknown deletes", observed.unknownDeletes(), "of keys that were not there");
    figure(
        table, "dead letters", observed.deadLetters(), "malformed events, with reason and place");
    figure(table, "snapshots", snapshots, "one for every window of event time");
    figure(table, "keys", last.keys(), "in the last one");
    figure(
        table,
        "bytes",
        last.bytes(),
        "%.1f bits a key, %,.0f ns a query",
        bitsPerKey(),
        nanosPerQuery);
    table.append(
        String.format(
            "%nCompared with an exact model, and queried for keys that never came:%n%n"
                + CHECK_COLUMNS,
            " ",
            "",
            "found",
            "allowed",
            "of",
            "rate",
            "promised"));
    checks.forEach(check -> table.append(row(check)));
    long broken = checks.stream().filter(check -> !check.holds()).count();
    table.append(
        broken == 0
            ? "%nAll %d checks hold.%n".formatted(checks.size())
            : "%n%d of %d checks do not hold.%n".formatted(broken, checks.size()));
    table.append(NEXT.formatted());
    return table.toString();
  }

  private static void figure(
      StringBuilder table, String name, long value, String note, Object... values) {
    table.append(
        String.format(
            Locale.ROOT,
            "%-16s%,9d   %s%n",
            name,
            value,
            String.format(Locale.ROOT, note, values)));
  }

  private static String row(Check check) {
    return CHECK_COLUMNS.formatted(
        check.holds() ? "\u2713" : "\u2717",
        check.name(),
        number(check.found()),
        number(check.allowed()),
        number(check.of()),
        percent(check.measuredRate()),
        percent(check.promisedRate()));
  }

  private static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static String percent(double rate) {
    return rate == 0 ? "0 %" : String.format(Locale.ROOT, "%.3f %%", 100 * rate);
  }

  /** For machines. */
  ObjectNode json() {
    ObjectNode json = Json.object();
    json.put("holds", holds());
    json.put("parallelism", settings.parallelism());
    json.put("stateBackend", settings.stateBackend().name().toLowerCase(Locale.ROOT));
    json.put("events", observed.outcomes());
    json.put("accepted", observed.acceptedRecords());
    json.put("duplicates", observed.duplicates());
    json.put("removed", observed.removals());
    json.put("unknownDeletes", observed.unknownDeletes());
    json.put("deadLetters", observed.deadLetters());
    json.put("seconds", seconds);
    json.put("eventsPerSecond", eventsPerSecond());
    json.put("snapshots", snapshots);
    ObjectNode snapshot = json.putObject("lastSnapshot");
    snapshot.put("sequence", last.sequence());
    snapshot.put("keys", last.keys());
    snapshot.put("bytes", last.bytes());
    snapshot.put("bitsPerKey", bitsPerKey());
    snapshot.put("nanosPerQuery", nanosPerQuery);
    ArrayNode results = json.putArray("checks");
    for (Check check : checks) {
      ObjectNode result = results.addObject();
      result.put("name", check.name());
      result.put("holds", check.holds());
      result.put("found", check.found());
      result.put("of", check.of());
      result.put("allowed", check.allowed());
      result.put("promisedRate", check.promisedRate());
    }
    return json;
  }
}
