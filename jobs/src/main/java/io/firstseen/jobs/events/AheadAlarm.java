package io.firstseen.jobs.events;

import io.firstseen.serializers.SourceEvent;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Notices when most events of a task are too far ahead of its clock, which probably means that the
 * clock is slow. Events are judged {@value #EVENTS} at a time; there is at most one warning per
 * minute.
 */
public final class AheadAlarm {
  static final int EVENTS = 100;

  private static final long MILLIS_BETWEEN_WARNINGS = 60_000;

  private int events;
  private int ahead;
  private SourceEvent newest;
  private boolean warned;
  private long warnedMillis;

  /** Makes an alarm that has seen nothing. */
  public AheadAlarm() {}

  /**
   * Takes the next event. Returns whether the last events are to be judged now.
   *
   * @param kind what is wrong with the event; null if nothing is
   */
  public boolean take(SourceEvent event, @Nullable ProblemKind kind) {
    events++;
    if (kind == ProblemKind.TOO_FAR_AHEAD) {
      ahead++;
      newest = event;
    }
    return events >= EVENTS;
  }

  /**
   * Judges the last {@value #EVENTS} events. Returns a warning if more than half were too far
   * ahead.
   *
   * @param nowMillis the time of the machine
   */
  public Optional<String> warning(long nowMillis) {
    int of = events;
    int counted = ahead;
    events = 0;
    ahead = 0;
    boolean early = warned && nowMillis - warnedMillis < MILLIS_BETWEEN_WARNINGS;
    if (2 * counted <= of || early) {
      return Optional.empty();
    }
    warned = true;
    warnedMillis = nowMillis;
    return Optional.of(
        ("%d of the last %d records are too far ahead of this machine's clock, the newest of them"
                + " %s: %s (set the clock right, or raise --max-ahead)")
            .formatted(counted, of, newest.place(), newest.problem()));
  }
}
