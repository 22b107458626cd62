package io.firstseen.jobs.shared;

import io.firstseen.serializers.Outcome;

/**
 * The sinks of a dedup job.
 *
 * @param decided receives the outcomes of usable events; outcomes of one key in the order of its
 *     events
 * @param duplicates the duplicates and unknown deletes that {@code decided} receives
 * @param deadLetters receives the unusable events
 */
public record OutcomeSinks(
    JobSink<Outcome> decided, Duplicates duplicates, JobSink<Outcome> deadLetters) {}
