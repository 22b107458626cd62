package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.ExactEntry;
import java.util.Arrays;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.jspecify.annotations.Nullable;

/**
 * The live set of the exact modes: each live key is an entry of managed keyed state, in addition to
 * the shards' filters.
 *
 * <p>The filter holds the identity (fingerprint) of every live key, with one copy per key that
 * shares it, up to the maximum number of copies that a filter stores. An identity that reaches this
 * number is never removed, or, with a ttl, is kept as long as its last key. A key that the filter
 * does not hold is therefore new, and is written without reading state; other keys are looked up in
 * state. An identity that outlives its keys only costs look-ups.
 */
public final class ExactSet implements LiveSet {
  private final HashEntries entries;
  private final PagedFilter filter;
  private final Shards shards;
  private final EntrySweep sweep;
  private final boolean withKeys;
  private final Counter lookups = new SimpleCounter();
  private final Counter rescues = new SimpleCounter();

  public ExactSet(
      HashEntries entries, EntrySweep sweep, PagedFilter filter, Shards shards, DedupMode mode) {
    this.entries = entries;
    this.sweep = sweep;
    this.filter = filter;
    this.shards = shards;
    this.withKeys = mode == DedupMode.EXACT_KEYS;
  }

  @Override
  public Addition add(ShardPages shard, Change<?> change) throws Exception {
    if (!isNew(shard, change)) {
      return Addition.KNOWN;
    }
    sweep.countNewKey();
    return Addition.NEW;
  }

  private boolean isNew(ShardPages shard, Change<?> change) throws Exception {
    long hash = change.hash();
    long suffix = shards.suffix(hash);
    if (filter.insertIfAbsent(shard, suffix) == InsertionResult.STORED) {
      entries.put(shard, hash, entry(shard, change.key(), null));
      return true;
    }
    lookups.inc();
    ExactEntry found = entries.get(shard, hash);
    ExactEntry known = find(found, change.key());
    if (known != null) {
      if (entries.isRenewed(shard, known)) {
        entries.put(shard, hash, entry(shard, change.key(), without(found, known)));
      }
      return false;
    }
    rescues.inc();
    filter.insert(shard, suffix);
    entries.put(shard, hash, entry(shard, change.key(), found));
    return true;
  }

  @Override
  public boolean remove(ShardPages shard, Change<?> change) throws Exception {
    long hash = change.hash();
    long suffix = shards.suffix(hash);
    if (!filter.mightContain(shard, suffix)) {
      return false;
    }
    lookups.inc();
    ExactEntry found = entries.get(shard, hash);
    ExactEntry known = find(found, change.key());
    if (known == null) {
      return false;
    }
    entries.putOrRemove(shard, hash, without(found, known));
    filter.deleteUnlessSaturated(shard, suffix);
    return true;
  }

  @Override
  public void learn(ShardPages shard, Change<?> change) throws Exception {
    isNew(shard, change);
  }

  @Override
  public void sweep() throws Exception {
    sweep.run();
  }

  @Override
  public void flush() throws Exception {
    entries.flush();
  }

  @Override
  public void register(MetricGroup metrics) {
    // The number of events whose fingerprint the filter holds, so that state is read.
    metrics.counter("exactLookups", lookups);
    // The number of new keys among these events; the filter alone would have dropped them.
    metrics.counter("exactRescues", rescues);
  }

  private ExactEntry entry(ShardPages shard, byte[] key, @Nullable ExactEntry others) {
    // The heap backend keeps the object, and the array may belong to the event, which may be
    // reused.
    return entries.entry(shard, withKeys ? key.clone() : null, others);
  }

  /** Returns the entry of a key among the entries of its hash, or null. */
  private @Nullable ExactEntry find(@Nullable ExactEntry first, byte[] key) {
    ExactEntry entry = first;
    while (entry != null && withKeys && !Arrays.equals(entry.key(), key)) {
      entry = entry.next();
    }
    return entry;
  }

  private static @Nullable ExactEntry without(ExactEntry first, ExactEntry known) {
    return first.next() == null
        ? null
        : first.without(entry -> Arrays.equals(entry.key(), known.key()));
  }
}
