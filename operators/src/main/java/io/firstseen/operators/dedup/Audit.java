package io.firstseen.operators.dedup;

import io.firstseen.filters.WilsonInterval;
import io.firstseen.types.AuditCounts;
import io.firstseen.types.ExactEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.metrics.MetricGroup;

/**
 * The exact set of the live keys' hashes, for one hash in so many: it tells which keys the filter
 * drops though they are new, and so what its false-positive rate is.
 *
 * <p>The set follows the stream, not the filter: a key lives from its add to its delete, or until
 * its time is up, whether or not the filter took it. So each add of a key that does not live is one
 * trial of the filter, and repeats of a dropped key are none. The counts are the shard's and stand
 * beside its state.
 */
final class Audit {
  private final long slices;
  private final HashEntries shadow;
  private final ValueState<AuditCounts> countsState;
  private final Consumer<Integer> setCurrentKey;
  private final ShardCounts[] byNumber;
  private final List<ShardCounts> shards = new ArrayList<>();

  private static final class ShardCounts {
    private final Integer key;
    private AuditCounts counts;
    private boolean changed;

    ShardCounts(Integer key, AuditCounts counts) {
      this.key = key;
      this.counts = counts;
    }
  }

  /**
   * @param slices one hash in so many is audited, at least 1
   * @param setCurrentKey sets the key whose state is read and written
   */
  Audit(
      int slices,
      int shardCount,
      HashEntries shadow,
      ValueState<AuditCounts> countsState,
      Consumer<Integer> setCurrentKey) {
    this.slices = slices;
    this.shadow = shadow;
    this.countsState = countsState;
    this.setCurrentKey = setCurrentKey;
    this.byNumber = new ShardCounts[shardCount];
  }

  /** Makes a shard one of this task's, with what state knows of it. */
  void own(int number, Integer key) throws IOException {
    setCurrentKey.accept(key);
    AuditCounts counts = countsState.value();
    byNumber[number] = new ShardCounts(key, counts == null ? AuditCounts.NONE : counts);
    shards.add(byNumber[number]);
  }

  /**
   * Whether a hash is audited. That depends on all its bits, the lowest ones most: keys that share
   * shard, page, bucket or identity are audited or not independently of each other.
   */
  boolean covers(long hash) {
    long mixed = (hash * 0x9E3779B97F4A7C15L) >>> Integer.SIZE;
    return (mixed * slices) >>> Integer.SIZE == 0;
  }

  /**
   * Takes note of an add of a key that is audited; its shard's key must be the current one.
   *
   * @param accepted whether the filter took the key for a new one
   * @param predictedRate the probability, as predicted, that it takes a new one for a duplicate
   * @return whether it took a new key for a duplicate
   */
  boolean add(int shard, long hash, boolean accepted, double predictedRate) throws Exception {
    ExactEntry known = shadow.get(hash);
    if (known != null) {
      if (shadow.isRenewed(known)) {
        shadow.put(hash, shadow.entry(null, null));
      }
      return false;
    }
    shadow.put(hash, shadow.entry(null, null));
    ShardCounts counts = byNumber[shard];
    counts.counts = counts.counts.and(!accepted, predictedRate);
    counts.changed = true;
    return !accepted;
  }

  /** Takes note that a key lives, without counting what the filter made of it. */
  void learn(long hash) throws Exception {
    shadow.put(hash, shadow.entry(null, null));
  }

  /** Takes note of a delete of a key that is audited. */
  void delete(long hash) throws Exception {
    shadow.remove(hash);
  }

  /** Brings the state up to date; to be called before each checkpoint. Moves the current key. */
  void flush() throws IOException {
    for (ShardCounts shard : shards) {
      if (shard.changed) {
        setCurrentKey.accept(shard.key);
        countsState.update(shard.counts);
        shard.changed = false;
      }
    }
  }

  void register(MetricGroup metrics) {
    metrics.gauge("auditedNewKeys", () -> counts().newKeys());
    metrics.gauge("auditedFalsePositives", () -> counts().falsePositives());
    metrics.gauge("measuredFalsePositiveRate", () -> share(AuditCounts::falsePositives));
    metrics.gauge("measuredFalsePositiveRateLow", () -> interval().low());
    metrics.gauge("measuredFalsePositiveRateHigh", () -> interval().high());
    metrics.gauge("auditedPredictedRate", () -> share(AuditCounts::predicted));
  }

  private AuditCounts counts() {
    AuditCounts sum = AuditCounts.NONE;
    for (ShardCounts shard : shards) {
      sum = sum.plus(shard.counts);
    }
    return sum;
  }

  private double share(ToDoubleFunction<AuditCounts> part) {
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
