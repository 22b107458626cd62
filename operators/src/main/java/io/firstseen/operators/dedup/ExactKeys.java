package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.Insertion;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.types.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.ExactEntry;
import java.util.Arrays;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;

/**
 * The live keys of a task's shards, each an entry of managed keyed state, with the shards' filters
 * in front.
 *
 * <p>The filter holds the identity of every live key: one copy for each of the keys that share it,
 * up to as many as a filter stores, and from then on for good (with a ttl, as long as the key that
 * came last). So what it does not hold is new and is written without a look at state; what it holds
 * is looked up. An identity that outlives its keys costs look-ups and nothing else.
 */
final class ExactKeys {
  private final HashEntries entries;
  private final PagedFilter filter;
  private final boolean withKeys;
  private final Counter lookups = new SimpleCounter();
  private final Counter rescues = new SimpleCounter();

  ExactKeys(HashEntries entries, PagedFilter filter, DedupMode mode) {
    this.entries = entries;
    this.filter = filter;
    this.withKeys = mode == DedupMode.EXACT_KEYS;
  }

  /** Events that the filter held the identity of, so that state was asked. */
  Counter lookups() {
    return lookups;
  }

  /** New keys among them: the filter alone would have dropped them. */
  Counter rescues() {
    return rescues;
  }

  /**
   * Makes a key a live one.
   *
   * @param rest its hash without the shard's bits
   * @return whether it was none before
   */
  boolean add(PageStore shard, long rest, Change<?> change) throws Exception {
    long hash = change.hash();
    if (filter.insertIfAbsent(shard, rest) == Insertion.STORED) {
      entries.put(hash, entry(change.key(), null));
      return true;
    }
    lookups.inc();
    ExactEntry found = entries.get(hash);
    ExactEntry known = find(found, change.key());
    if (known != null) {
      if (entries.isRenewed(known)) {
        entries.put(hash, entry(change.key(), without(found, known)));
      }
      return false;
    }
    rescues.inc();
    filter.insert(shard, rest);
    entries.put(hash, entry(change.key(), found));
    return true;
  }

  /**
   * Makes a key a live one no longer.
   *
   * @param rest its hash without the shard's bits
   * @return whether it was one before
   */
  boolean remove(PageStore shard, long rest, Change<?> change) throws Exception {
    if (!filter.mightContain(shard, rest)) {
      return false;
    }
    lookups.inc();
    long hash = change.hash();
    ExactEntry found = entries.get(hash);
    ExactEntry known = find(found, change.key());
    if (known == null) {
      return false;
    }
    ExactEntry others = without(found, known);
    if (others == null) {
      entries.remove(hash);
    } else {
      entries.put(hash, others);
    }
    filter.deleteUnlessSaturated(shard, rest);
    return true;
  }

  private ExactEntry entry(byte[] key, ExactEntry others) {
    // The heap backend keeps the object, and the array may be the event's, which is used again.
    return entries.entry(withKeys ? key.clone() : null, others);
  }

  /** The entry of a key among those of its hash, or null. */
  private ExactEntry find(ExactEntry first, byte[] key) {
    ExactEntry entry = first;
    while (entry != null && withKeys && !Arrays.equals(entry.key(), key)) {
      entry = entry.next();
    }
    return entry;
  }

  private static ExactEntry without(ExactEntry first, ExactEntry out) {
    return first.equals(out)
        ? first.next()
        : new ExactEntry(first.endMillis(), first.key(), without(first.next(), out));
  }
}
