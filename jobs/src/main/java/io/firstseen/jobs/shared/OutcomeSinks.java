package io.firstseen.jobs.shared;

import io.firstseen.serializers.Outcome;
import java.util.Objects;
import org.apache.flink.api.connector.sink2.Sink;

/**
 * The sinks of a dedup job.
 *
 * @param decided receives the outcomes of events that have a usable key; those of one key in the
 *     order of its events
 * @param duplicates which repeats and unknown deletes are among them
 * @param deadLetters receives the events that cannot be used
 */
public record OutcomeSinks(
    Sink<Outcome> decided, Duplicates duplicates, Sink<Outcome> deadLetters) {
  public OutcomeSinks {
    Objects.requireNonNull(decided, "decided");
    Objects.requireNonNull(duplicates, "duplicates");
    Objects.requireNonNull(deadLetters, "deadLetters");
  }
}
