package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.Snapshot;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/** Metrics of a task of the compaction; {@code docs/operations/metrics.md} has the table. */
final class CompactionMetrics {
  private final Counter bases;
  private final Counter baseBytes;
  private final Counter deltas;
  private final Counter deltaBytes;
  private double bitsPerKey;
  private long closingMicros;

  CompactionMetrics(MetricGroup group, Gauge<Long> liveKeys, Gauge<Long> windowLagMillis) {
    bases = group.counter("bases");
    baseBytes = group.counter("baseBytes");
    deltas = group.counter("deltas");
    deltaBytes = group.counter("deltaBytes");
    group.gauge("liveKeys", liveKeys);
    group.gauge("windowLagMillis", windowLagMillis);
    group.gauge("bitsPerKey", () -> bitsPerKey);
    group.gauge("closingMicros", () -> closingMicros);
  }

  /** Counts what a changed shard published. */
  void cut(ShardCut cut) {
    if (cut.delta() != null) {
      deltas.inc();
      deltaBytes.inc(cut.delta().asByteBuffer().remaining());
    }
    Snapshot base = cut.base();
    if (base != null) {
      long bytes = base.asByteBuffer().remaining();
      bases.inc();
      baseBytes.inc(bytes);
      bitsPerKey = 8.0 * bytes / Math.max(1, base.header().hashCount());
    }
  }

  /** Records how long a shard took to close a window. */
  void closed(long nanos) {
    closingMicros = nanos / 1000;
  }
}
