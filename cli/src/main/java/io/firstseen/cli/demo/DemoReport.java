package io.firstseen.cli.demo;

import static io.firstseen.serializers.Outcome.Kind.ACCEPTED;
import static io.firstseen.serializers.Outcome.Kind.DEAD_LETTER;
import static io.firstseen.serializers.Outcome.Kind.DUPLICATE;
import static io.firstseen.serializers.Outcome.Kind.REMOVED;
import static io.firstseen.serializers.Outcome.Kind.UNKNOWN_DELETE;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.serializers.Outcome;
import java.util.List;
import java.util.Locale;

/**
 * The results of a demo and of its checks.
 *
 * @param seconds the time from the first sent event to the last committed outcome
 * @param snapshots the number of snapshots that the client activated
 * @param last the snapshot that is active at the end
 */
record DemoReport(
    DemoCommand settings,
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
  private static final String CHECKS =
      "%nCompared with an exact model, and queried for keys that were never sent."
          + "%nPromised rates are averages; the allowed number leaves room for chance.%n%n"
          + "                                         found  allowed       of     rate  promised%n";
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

  Fields fields() {
    Fields fields =
        new Fields()
            .json("holds", holds())
            .json("parallelism", settings.parallelism)
            .json("stateBackend", settings.stateBackend.name().toLowerCase(Locale.ROOT));
    figure(
        fields,
        "events",
        "events",
        observed.outcomes(),
        String.format(Locale.ROOT, "in %.1f s, %,d per second", seconds, eventsPerSecond()));
    outcome(fields, "accepted", "accepted", ACCEPTED, "keys seen for the first time");
    outcome(fields, "duplicates", "duplicates", DUPLICATE, "of live keys, in several spellings");
    outcome(fields, "deleted", "removed", REMOVED, "removed keys");
    outcome(
        fields, "unknown deletes", "unknownDeletes", UNKNOWN_DELETE, "of keys that were not live");
    outcome(
        fields,
        "dead letters",
        "deadLetters",
        DEAD_LETTER,
        "malformed events, with reason and place");
    fields.json("seconds", seconds).json("eventsPerSecond", eventsPerSecond());
    figure(fields, "snapshots", "snapshots", snapshots, "one per window of event time");
    Fields snapshot = new Fields().json("sequence", last.sequence());
    figure(snapshot, "keys", "keys", last.keys(), "in the last snapshot");
    figure(
        snapshot,
        "bytes",
        "bytes",
        last.bytes(),
        String.format(
            Locale.ROOT, "%.1f bits per key, %,.0f ns per query", bitsPerKey(), nanosPerQuery));
    snapshot.json("bitsPerKey", bitsPerKey()).json("nanosPerQuery", nanosPerQuery);
    fields.text(snapshot.table()).json("lastSnapshot", snapshot.json());
    addChecks(fields);
    return fields.text(NEXT.formatted());
  }

  private void addChecks(Fields fields) {
    fields.text(CHECKS.formatted());
    ArrayNode results = Json.array();
    for (Check check : checks) {
      fields.text(row(check));
      results
          .addObject()
          .put("name", check.name())
          .put("holds", check.holds())
          .put("found", check.found())
          .put("of", check.of())
          .put("allowed", check.allowed())
          .put("promisedRate", check.promisedRate());
    }
    long broken = checks.stream().filter(check -> !check.holds()).count();
    fields
        .json("checks", results)
        .text(
            broken == 0
                ? "%nAll %d checks passed.%n".formatted(checks.size())
                : "%n%d of %d checks failed.%n".formatted(broken, checks.size()));
  }

  private void outcome(Fields fields, String title, String name, Outcome.Kind kind, String note) {
    figure(fields, title, name, observed.count(kind), note);
  }

  private static void figure(Fields fields, String title, String name, long value, String note) {
    fields
        .text(String.format(Locale.ROOT, "%-16s%,9d   %s%n", title, value, note))
        .json(name, value);
  }

  private static String row(Check check) {
    return CHECK_COLUMNS.formatted(
        check.holds() ? "\u2713" : "\u2717",
        check.name(),
        SnapshotSummary.number(check.found()),
        SnapshotSummary.number(check.allowed()),
        SnapshotSummary.number(check.of()),
        percent(check.measuredRate()),
        percent(check.promisedRate()));
  }

  private static String percent(double rate) {
    return rate == 0 ? "0 %" : String.format(Locale.ROOT, "%.3f %%", 100 * rate);
  }
}
