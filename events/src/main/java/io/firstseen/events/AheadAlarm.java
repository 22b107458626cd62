package io.firstseen.events;

import io.firstseen.serializers.SourceEvent;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Detects when most events of a task are too far ahead of the system clock, which usually means
 * that the clock is slow. The alarm evaluates {@value #EVENTS} events at a time, and warns at most
 * once per minute.
 */
public final class AheadAlarm {
  static final int EVENTS = 100;

  private static final long MILLIS_BETWEEN_WARNINGS = 60_000;

  private int events;
  private int ahead;
  private SourceEvent newest;
  private boolean warned;
  private long warnedMillis;

  /**
   * Counts the next event. After {@value #EVENTS} events, returns a warning if more than half of
   * them were too far ahead.
   *
   * @param kind the problem of the event; null if it is well-formed
   * @param clockMillis the system clock
   */
  public Optional<String> take(
      SourceEvent event, @Nullable ProblemKind kind, LongSupplier clockMillis) {
    if (kind == ProblemKind.TOO_FAR_AHEAD) {
      ahead++;
      newest = event;
    }
    if (++events < EVENTS) {
      return Optional.empty();
    }
    int counted = ahead;
    events = 0;
    ahead = 0;
    long nowMillis = clockMillis.getAsLong();
    boolean early = warned && nowMillis - warnedMillis < MILLIS_BETWEEN_WARNINGS;
    if (2 * counted <= EVENTS || early) {
      return Optional.empty();
    }
    warned = true;
    warnedMillis = nowMillis;
    return Optional.of(
        ("%d of the last %d records are too far ahead of this machine's clock, the newest of "
                + "them %s: %s (correct the clock, or increase --max-ahead)")
            .formatted(counted, EVENTS, newest.place(), newest.problem()));
  }
}
