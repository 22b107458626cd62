package io.firstseen.consumer.internal;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/** Describes when to expect the first snapshot of a set on a topic. */
public final class FirstSnapshot {

  private FirstSnapshot() {}

  /**
   * Returns a clause for messages.
   *
   * @param window the window and the idle timeout of the snapshot job together; empty if unknown,
   *     because no record contains them before the first snapshot
   */
  public static String expected(Optional<Duration> window) {
    return window
        .map(
            known ->
                ("the first one is expected at most %s plus --checkpoint-interval of the jobs"
                        + " after the first event")
                    .formatted(known.toString().substring(2).toLowerCase(Locale.ROOT)))
        .orElse(
            "the first one is expected at most --window plus --idle-timeout plus"
                + " --checkpoint-interval of the jobs after the first event, by default 1h1m10s");
  }
}
