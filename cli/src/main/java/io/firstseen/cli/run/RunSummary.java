package io.firstseen.cli.run;

import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.serializers.Outcome;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of a run.
 *
 * @param counts the number of events by outcome
 * @param snapshots the number of manifests; null without snapshots
 * @param seconds the duration of the job
 */
record RunSummary(Map<Outcome.Kind, Long> counts, @Nullable Integer snapshots, double seconds) {

  long count(Outcome.Kind kind) {
    return counts.get(kind);
  }

  long events() {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  Fields fields() {
    Fields fields = new Fields().put("events", "events", events());
    put(fields, "accepted", "accepted", Outcome.Kind.ACCEPTED);
    put(fields, "duplicates", "duplicates", Outcome.Kind.DUPLICATE);
    if (count(Outcome.Kind.FALSE_DUPLICATE) > 0) {
      put(fields, "false duplicates", "falseDuplicates", Outcome.Kind.FALSE_DUPLICATE);
    } else {
      fields.json("falseDuplicates", 0);
    }
    put(fields, "removed", "removed", Outcome.Kind.REMOVED);
    put(fields, "unknown deletes", "unknownDeletes", Outcome.Kind.UNKNOWN_DELETE);
    put(fields, "dead letters", "deadLetters", Outcome.Kind.DEAD_LETTER);
    if (snapshots != null) {
      fields.put("snapshots", "snapshots", snapshots);
    }
    return fields
        .putSeconds("seconds", "seconds", seconds)
        .put("events per second", "eventsPerSecond", Math.round(events() / seconds));
  }

  private void put(Fields fields, String title, String name, Outcome.Kind kind) {
    fields.put(title, name, count(kind));
  }

  /** One line with the counts of a running job. */
  static String progress(Map<Outcome.Kind, Long> counts) {
    RunSummary soFar = new RunSummary(counts, null, 1);
    return SnapshotSummary.number(soFar.count(Outcome.Kind.ACCEPTED))
        + " accepted of "
        + SnapshotSummary.number(soFar.events())
        + " events";
  }
}
