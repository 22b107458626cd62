package io.firstseen.jobs;

import io.firstseen.serializers.Outcome;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;

/**
 * The number of events by outcome, as accumulators of the job: readable while it runs and when it
 * has finished. They start from 0 when the job restarts.
 */
public final class OutcomeCounts {

  private OutcomeCounts() {}

  /**
   * The counts from a job's accumulators; zero for outcomes that never happened.
   *
   * @param accumulators of {@code JobClient} or {@code JobExecutionResult}
   */
  public static Map<Outcome.Kind, Long> of(Map<String, Object> accumulators) {
    Map<Outcome.Kind, Long> counts = new EnumMap<>(Outcome.Kind.class);
    for (Outcome.Kind kind : Outcome.Kind.values()) {
      counts.put(kind, accumulators.get(name(kind)) instanceof Long count ? count : 0L);
    }
    return counts;
  }

  private static String name(Outcome.Kind kind) {
    return "firstseen-outcomes-" + kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Makes and counts outcomes. */
  static final class Counting<T> extends RichMapFunction<T, Outcome> {
    private static final long serialVersionUID = 1;

    private final MapFunction<T, Outcome> toOutcome;
    private transient EnumMap<Outcome.Kind, LongCounter> counters;

    Counting(MapFunction<T, Outcome> toOutcome) {
      this.toOutcome = toOutcome;
    }

    @Override
    public void open(OpenContext context) {
      counters = new EnumMap<>(Outcome.Kind.class);
    }

    @Override
    public Outcome map(T value) throws Exception {
      Outcome outcome = toOutcome.map(value);
      counters
          .computeIfAbsent(outcome.kind(), kind -> getRuntimeContext().getLongCounter(name(kind)))
          .add(1L);
      return outcome;
    }
  }
}
