package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.Insertion;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.types.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.ExactEntry;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.base.ShortSerializer;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalMapState;

/**
 * The live keys of a task's shards, each an entry of managed keyed state, with the shards' filters
 * in front.
 *
 * <p>The filter holds the identity of every live key: one copy for each of the keys that share it,
 * up to as many as a filter stores, and from then on for good. So what it does not hold is new and
 * is written without a look at state; what it holds is looked up. An identity that outlives its
 * keys costs look-ups and nothing else.
 *
 * <p>A shard's entries are cut into slices, which are namespaces of the state: on the heap each is
 * a map of its own, and the first change after a checkpoint copies one map, not the shard's.
 */
final class ExactKeys {
  private static final int SLICE_BITS = 10;
  private static final Short[] SLICES = new Short[1 << SLICE_BITS];

  static {
    for (int slice = 0; slice < SLICES.length; slice++) {
      SLICES[slice] = (short) slice;
    }
  }

  private final InternalMapState<Integer, Short, Long, ExactEntry> state;
  private final PagedFilter filter;
  private final boolean withKeys;
  private final Counter lookups = new SimpleCounter();
  private final Counter rescues = new SimpleCounter();

  private ExactKeys(
      InternalMapState<Integer, Short, Long, ExactEntry> state,
      PagedFilter filter,
      boolean withKeys) {
    this.state = state;
    this.filter = filter;
    this.withKeys = withKeys;
  }

  /** The entries in a backend; its current key must be the shard's at every call. */
  @SuppressWarnings("unchecked") // Flink's own state objects are what their descriptors say.
  static ExactKeys in(KeyedStateBackend<?> backend, PagedFilter filter, DedupMode mode)
      throws Exception {
    Object state = backend.getOrCreateKeyedState(ShortSerializer.INSTANCE, DedupState.EXACT);
    return new ExactKeys(
        (InternalMapState<Integer, Short, Long, ExactEntry>) state,
        filter,
        mode == DedupMode.EXACT_KEYS);
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
    state.setCurrentNamespace(sliceOf(rest));
    Long hash = change.hash();
    if (filter.insertIfAbsent(shard, rest) == Insertion.STORED) {
      state.put(hash, entry(change.key(), null));
      return true;
    }
    lookups.inc();
    ExactEntry entries = state.get(hash);
    if (holds(entries, change.key())) {
      return false;
    }
    rescues.inc();
    filter.insert(shard, rest);
    state.put(hash, entry(change.key(), entries));
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
    state.setCurrentNamespace(sliceOf(rest));
    Long hash = change.hash();
    ExactEntry entries = state.get(hash);
    if (!holds(entries, change.key())) {
      return false;
    }
    ExactEntry others = without(entries, change.key());
    if (others == null) {
      state.remove(hash);
    } else {
      state.put(hash, others);
    }
    filter.deleteUnlessSaturated(shard, rest);
    return true;
  }

  private static Short sliceOf(long rest) {
    return SLICES[(int) (rest >>> (Long.SIZE - SLICE_BITS))];
  }

  private ExactEntry entry(byte[] key, ExactEntry others) {
    // The heap backend keeps the object, and the array may be the event's, which is used again.
    return withKeys ? new ExactEntry(0, key.clone(), others) : ExactEntry.HASH;
  }

  private boolean holds(ExactEntry entries, byte[] key) {
    if (!withKeys) {
      return entries != null;
    }
    for (ExactEntry entry = entries; entry != null; entry = entry.next()) {
      if (Arrays.equals(entry.key(), key)) {
        return true;
      }
    }
    return false;
  }

  private ExactEntry without(ExactEntry entries, byte[] key) {
    if (!withKeys || Arrays.equals(entries.key(), key)) {
      return entries.next();
    }
    return new ExactEntry(entries.sinceMillis(), entries.key(), without(entries.next(), key));
  }
}
