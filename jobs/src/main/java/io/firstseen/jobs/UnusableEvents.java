package io.firstseen.jobs;

import io.firstseen.events.AheadAlarm;
import io.firstseen.events.ProblemKind;
import io.firstseen.serializers.SourceEvent;
import java.util.EnumMap;
import java.util.Map;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts unusable events by kind, and warns if most events are too far ahead of the clock. */
final class UnusableEvents {
  private static final Logger LOG = LoggerFactory.getLogger(UnusableEvents.class);

  private final Map<ProblemKind, Counter> counters = new EnumMap<>(ProblemKind.class);
  private final AheadAlarm alarm = new AheadAlarm();

  UnusableEvents(MetricGroup metrics) {
    for (ProblemKind kind : ProblemKind.values()) {
      counters.put(kind, metrics.counter(kind.metric()));
    }
  }

  /** Counts an unusable event; returns whether it is the first unusable event of its kind. */
  boolean count(SourceEvent event) {
    ProblemKind kind = event.isWellFormed() ? null : ProblemKind.of(event.problem());
    alarm.take(event, kind, System::currentTimeMillis).ifPresent(LOG::warn);
    if (kind == null) {
      return false;
    }
    Counter counter = counters.get(kind);
    counter.inc();
    return counter.getCount() == 1;
  }
}
