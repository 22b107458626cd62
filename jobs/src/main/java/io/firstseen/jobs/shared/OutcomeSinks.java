package io.firstseen.jobs.shared;

import io.firstseen.serializers.Outcome;
import org.apache.flink.api.connector.sink2.Sink;

/**
 * The sinks of a dedup job.
 *
 * @param decided receives the outcomes of usable events; outcomes of one key in the order of its
 *     events
 * @param duplicates the duplicates and unknown deletes that {@code decided} receives
 * @param deadLetters receives the unusable events
 */
public record OutcomeSinks(
    Sink<Outcome> decided, Duplicates duplicates, Sink<Outcome> deadLetters) {}
