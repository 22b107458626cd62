package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.ShardCut;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** Metrics of a task of the compaction; {@code docs/operations/metrics.md} lists them. */
final class CompactionMetrics {
  private final Counter bases;
  private final Counter baseBytes;
  private final Counter sections;
  private final Counter sectionBytes;
  private double bitsPerKey;
  private long closingMicros;

  CompactionMetrics(MetricGroup group, Gauge<Long> liveKeys, Gauge<Long> windowLagMillis) {
    bases = group.counter("bases");
    baseBytes = group.counter("baseBytes");
    sections = group.counter("sections");
    sectionBytes = group.counter("sectionBytes");
    group.gauge("liveKeys", liveKeys);
    group.gauge("windowLagMillis", windowLagMillis);
    group.gauge("bitsPerKey", () -> bitsPerKey);
    group.gauge("closingMicros", () -> closingMicros);
  }

  void cut(ShardCut cut, long liveKeys) {
    sections.inc();
    sectionBytes.inc(cut.section().length());
    byte[] base = cut.base();
    if (base != null) {
      bases.inc();
      baseBytes.inc(base.length);
      bitsPerKey = 8.0 * base.length / Math.max(1, liveKeys);
    }
  }

  void closed(long nanos) {
    closingMicros = nanos / 1000;
  }
}
