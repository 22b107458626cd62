package io.firstseen.operators.dedup.live;

import io.firstseen.filters.WilsonInterval;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.types.AuditCounts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.metrics.MetricGroup;

/**
 * Counts the trials of an audit and how many failed, with the mean of their predicted rates of
 * failure. The counts are kept in state per shard.
 */
public final class AuditTrials {
  private final ValueState<AuditCounts> state;
  private final Consumer<Integer> setCurrentKey;
  private final OfShard[] byNumber;
  private final List<OfShard> shards = new ArrayList<>();

  private static final class OfShard {
    private final Integer key;
    private AuditCounts counts;
    private boolean changed;

    OfShard(Integer key, AuditCounts counts) {
      this.key = key;
      this.counts = counts;
    }
  }

  /**
   * @param setCurrentKey sets Flink's key; called before each access to state
   */
  public AuditTrials(
      int shardCount, ValueState<AuditCounts> state, Consumer<Integer> setCurrentKey) {
    this.state = state;
    this.setCurrentKey = setCurrentKey;
    this.byNumber = new OfShard[shardCount];
  }

  /** Adds a shard, with its counts from state. */
  public void add(int number, Integer key) throws IOException {
    setCurrentKey.accept(key);
    AuditCounts counts = state.value();
    byNumber[number] = new OfShard(key, counts == null ? AuditCounts.NONE : counts);
    shards.add(byNumber[number]);
  }

  /**
   * Counts a trial.
   *
   * @param predictedRate the predicted probability of its failure
   */
  void count(ShardPages shard, boolean failed, double predictedRate) {
    OfShard ofShard = byNumber[shard.number];
    ofShard.counts = ofShard.counts.and(failed, predictedRate);
    ofShard.changed = true;
  }

  /** Updates the state; must be called before each checkpoint. */
  void flush() throws IOException {
    for (OfShard shard : shards) {
      if (shard.changed) {
        setCurrentKey.accept(shard.key);
        state.update(shard.counts);
        shard.changed = false;
      }
    }
  }

  /** Registers the metrics of new keys that the filter alone may drop. */
  void registerFalsePositives(MetricGroup metrics) {
    metrics.gauge("auditedNewKeys", () -> counts().newKeys());
    metrics.gauge("auditedFalsePositives", () -> counts().falsePositives());
    metrics.gauge("measuredFalsePositiveRate", () -> share(AuditCounts::falsePositives));
    metrics.gauge("measuredFalsePositiveRateLow", () -> interval().low());
    metrics.gauge("measuredFalsePositiveRateHigh", () -> interval().high());
    metrics.gauge("auditedPredictedRate", () -> share(AuditCounts::predicted));
  }

  /**
   * Registers the metrics of trials that should succeed.
   *
   * @param measured the name of the share that succeeded
   */
  void registerSuccesses(MetricGroup metrics, String trials, String failures, String measured) {
    metrics.gauge(trials, () -> counts().newKeys());
    metrics.gauge(failures, () -> counts().falsePositives());
    metrics.gauge(measured, () -> 1 - share(AuditCounts::falsePositives));
    metrics.gauge(measured + "Low", () -> 1 - interval().high());
    metrics.gauge(measured + "High", () -> 1 - interval().low());
  }

  private AuditCounts counts() {
    AuditCounts sum = AuditCounts.NONE;
    for (OfShard shard : shards) {
      sum = sum.plus(shard.counts);
    }
    return sum;
  }

  /** Returns the mean of a part of the counts over all trials; 0 without trials. */
  double share(ToDoubleFunction<AuditCounts> part) {
    AuditCounts counts = counts();
    return counts.newKeys() == 0 ? 0 : part.applyAsDouble(counts) / counts.newKeys();
  }

  private WilsonInterval interval() {
    AuditCounts counts = counts();
    return counts.newKeys() == 0
        ? new WilsonInterval(0, 1)
        : WilsonInterval.of(counts.falsePositives(), counts.newKeys());
  }
}
