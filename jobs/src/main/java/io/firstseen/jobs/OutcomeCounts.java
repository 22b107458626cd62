package io.firstseen.jobs;

import io.firstseen.serializers.Outcome;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.RuntimeContext;

/**
 * The number of events per outcome, as accumulators of the job. They can be read while the job runs
 * and after it has finished, and restart from 0 when the job restarts.
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

  static final class Counters {
    private final Map<Outcome.Kind, LongCounter> counters = new EnumMap<>(Outcome.Kind.class);
    private final RuntimeContext context;

    Counters(RuntimeContext context) {
      this.context = context;
    }

    void count(Outcome.Kind kind) {
      counters.computeIfAbsent(kind, unused -> context.getLongCounter(name(kind))).add(1L);
    }
  }
}
