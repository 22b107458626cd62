package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.Insertion;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.Shards;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.ExactEntry;
import java.util.Arrays;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.jspecify.annotations.Nullable;

/**
 * The live keys of a task's shards, each an entry of managed keyed state, with the shards' filters
 * in front.
 *
 * <p>The filter holds the identity of every live key: one copy for each of the keys that share it,
 * up to as many as a filter stores, and from then on for good (with a ttl, as long as the key that
 * came last). So what it does not hold is new and is written without a look at state; what it holds
 * is looked up. An identity that outlives its keys costs look-ups and nothing else.
 */
final class ExactSet implements LiveSet {
  private final HashEntries entries;
  private final PagedFilter filter;
  private final Shards shards;
  private final EntrySweep sweep;
  private final boolean withKeys;
  private final Counter lookups = new SimpleCounter();
  private final Counter rescues = new SimpleCounter();

  ExactSet(
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
    sweep.pay();
    return Addition.NEW;
  }

  private boolean isNew(ShardPages shard, Change<?> change) throws Exception {
    long hash = change.hash();
    long rest = shards.rest(hash);
    if (filter.insertIfAbsent(shard, rest) == Insertion.STORED) {
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
    filter.insert(shard, rest);
    entries.put(shard, hash, entry(shard, change.key(), found));
    return true;
  }

  @Override
  public boolean remove(ShardPages shard, Change<?> change) throws Exception {
    long hash = change.hash();
    long rest = shards.rest(hash);
    if (!filter.mightContain(shard, rest)) {
      return false;
    }
    lookups.inc();
    ExactEntry found = entries.get(shard, hash);
    ExactEntry known = find(found, change.key());
    if (known == null) {
      return false;
    }
    ExactEntry others = without(found, known);
    if (others == null) {
      entries.remove(shard, hash);
    } else {
      entries.put(shard, hash, others);
    }
    filter.deleteUnlessSaturated(shard, rest);
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
    // Events that the filter held the fingerprint of, so that state was asked.
    metrics.counter("exactLookups", lookups);
    // New keys among them: the filter alone would have dropped them.
    metrics.counter("exactRescues", rescues);
  }

  private ExactEntry entry(ShardPages shard, byte[] key, @Nullable ExactEntry others) {
    // The heap backend keeps the object, and the array may be the event's, which is used again.
    return entries.entry(shard, withKeys ? key.clone() : null, others);
  }

  /** The entry of a key among those of its hash, or null. */
  private @Nullable ExactEntry find(@Nullable ExactEntry first, byte[] key) {
    ExactEntry entry = first;
    while (entry != null && withKeys && !Arrays.equals(entry.key(), key)) {
      entry = entry.next();
    }
    return entry;
  }

  private static @Nullable ExactEntry without(ExactEntry first, ExactEntry out) {
    return first.equals(out)
        ? first.next()
        : new ExactEntry(first.endMillis(), first.key(), without(first.next(), out));
  }
}
