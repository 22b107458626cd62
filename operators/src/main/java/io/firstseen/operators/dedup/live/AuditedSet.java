package io.firstseen.operators.dedup.live;

import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import io.firstseen.types.ExactEntry;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;

/**
 * A live set with an exact shadow of one hash in N. The shadow detects new keys that the filter
 * drops, which measures its false-positive rate.
 *
 * <p>The shadow follows the stream, not the filter: a key is live in it from its add to its delete
 * or expiry, whether or not the filter accepted it. Each add of a key that is not live is therefore
 * one trial of the filter; duplicates of a dropped key are not. The counts are kept in state per
 * shard.
 */
public final class AuditedSet implements LiveSet {
  private final LiveSet set;
  private final int slices;
  private final HashEntries shadow;
  private final EntrySweep sweep;
  private final AuditTrials newKeys;
  private final Counter falselyDropped = new SimpleCounter();

  /**
   * @param slices N: one hash in N is audited; at least 1
   */
  public AuditedSet(
      LiveSet set, int slices, HashEntries shadow, EntrySweep sweep, AuditTrials newKeys) {
    this.set = set;
    this.slices = slices;
    this.shadow = shadow;
    this.sweep = sweep;
    this.newKeys = newKeys;
  }

  /**
   * Returns whether a hash is audited. This depends on all its bits, and most on the lowest ones,
   * so keys that share a shard, page, bucket or fingerprint are audited independently of each
   * other.
   *
   * @param slices N: one hash in N is audited
   */
  public static boolean isAudited(long hash, int slices) {
    long mixed = (hash * 0x9E3779B97F4A7C15L) >>> Integer.SIZE;
    return (mixed * slices) >>> Integer.SIZE == 0;
  }

  @Override
  public Addition add(ShardPages shard, Change<?> change) throws Exception {
    boolean audited = isAudited(change.hash(), slices);
    double predictedRate = audited ? shard.predictedFalsePositiveRate() : 0;
    Addition addition = set.add(shard, change);
    boolean isNew = addition == Addition.NEW;
    if (audited && !isLive(shard, change.hash(), isNew)) {
      shadow.put(shard, change.hash(), shadow.entry(shard, null, null));
      newKeys.count(shard, !isNew, predictedRate);
      if (!isNew) {
        falselyDropped.inc();
        return Addition.FALSELY_DROPPED;
      }
    }
    if (isNew) {
      sweep.countNewKey();
    }
    return addition;
  }

  /**
   * Returns whether an audited key is live. Renews a live key if its time has changed.
   *
   * @param isNew whether the filter has just stored the key, because a delete of another key
   *     removed its copy
   */
  private boolean isLive(ShardPages shard, long hash, boolean isNew) throws Exception {
    ExactEntry known = shadow.get(shard, hash);
    if (known != null && (isNew || shadow.isRenewed(shard, known))) {
      shadow.put(shard, hash, shadow.entry(shard, null, null));
    }
    return known != null;
  }

  @Override
  public boolean remove(ShardPages shard, Change<?> change) throws Exception {
    if (isAudited(change.hash(), slices)) {
      shadow.remove(shard, change.hash());
    }
    return set.remove(shard, change);
  }

  @Override
  public void learn(ShardPages shard, Change<?> change) throws Exception {
    set.learn(shard, change);
    if (isAudited(change.hash(), slices)) {
      shadow.put(shard, change.hash(), shadow.entry(shard, null, null));
    }
  }

  @Override
  public void sweep() throws Exception {
    set.sweep();
    sweep.run();
  }

  @Override
  public void flush() throws Exception {
    set.flush();
    shadow.flush();
    newKeys.flush();
  }

  @Override
  public void register(MetricGroup metrics) {
    set.register(metrics);
    metrics.counter("falselyDropped", falselyDropped);
    newKeys.registerFalsePositives(metrics);
  }
}
