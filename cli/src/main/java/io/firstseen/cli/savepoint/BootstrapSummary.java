package io.firstseen.cli.savepoint;

import io.firstseen.cli.shared.Fields;
import io.firstseen.operators.dedup.DedupSavepoint;
import java.nio.file.Path;

/**
 * The results of a bootstrap.
 *
 * @param events the number of events that were read, including dead letters
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

  Fields fields() {
    return new Fields()
        .put("savepoint", "savepoint", savepoint.toString())
        .put("events", "events", events)
        .put("dead letters", "deadLetters", deadLetters)
        .put("keys", "keys", made.keys())
        .put("bytes", "bytes", made.stateBytes())
        .putRate("rate predicted", "predictedFalsePositiveRate", made.predictedFalsePositiveRate())
        .putSeconds("seconds to read", "readSeconds", readSeconds)
        .putSeconds("seconds", "seconds", seconds)
        .put("events per second", "eventsPerSecond", Math.round(events / seconds));
  }
}
