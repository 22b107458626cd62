package io.firstseen.operators.dedup.live;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.types.ExactEntry;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.ShortSerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.jspecify.annotations.Nullable;

/**
 * Entries of keyed state under 64-bit hashes. Expired entries count as absent, though state may
 * still hold them.
 *
 * <p>A shard's entries are divided into slices, which are namespaces of the state, so that they can
 * be swept in parts. On the heap each slice is a separate map, so the first change after a
 * checkpoint copies one slice and not the whole shard.
 *
 * <p>If state is not on the heap, new entries stay pending until a shard has several hundred of
 * them, or a checkpoint begins. They are then written in the order of their hashes, which takes a
 * third of the time of writing them one by one.
 */
public final class HashEntries {
  private static final int SLICE_BITS = 8;

  /** Slices of a shard. */
  public static final int SLICES = 1 << SLICE_BITS;

  private static final Short[] NAMESPACES =
      IntStream.range(0, SLICES).mapToObj(slice -> (short) slice).toArray(Short[]::new);

  private final InternalMapState<Integer, Short, Long, ExactEntry> state;
  private final Shards shards;
  private final @Nullable PendingEntries pending;
  private final Consumer<Integer> setCurrentKey;
  private ExactEntry lastHash = ExactEntry.HASH;

  /**
   * @param pending null if each entry is written immediately
   * @param setCurrentKey sets Flink's key; called before each access to state
   */
  @SuppressWarnings("unchecked") // Flink's own state objects are what their descriptors say.
  public HashEntries(
      KeyedStateBackend<?> backend,
      MapStateDescriptor<Long, ExactEntry> descriptor,
      Shards shards,
      @Nullable PendingEntries pending,
      Consumer<Integer> setCurrentKey)
      throws Exception {
    Object map = backend.getOrCreateKeyedState(ShortSerializer.INSTANCE, descriptor);
    this.state = (InternalMapState<Integer, Short, Long, ExactEntry>) map;
    this.shards = shards;
    this.pending = pending;
    this.setCurrentKey = setCurrentKey;
  }

  /** Returns the slice of a hash, a number in [0, {@link #SLICES}). */
  private int sliceOf(long hash) {
    return (int) (shards.suffix(hash) >>> (Long.SIZE - SLICE_BITS));
  }

  /** Sets Flink's key and namespace for a hash. */
  private void turnTo(ShardPages shard, long hash) {
    setCurrentKey.accept(shard.key);
    state.setCurrentNamespace(NAMESPACES[sliceOf(hash)]);
  }

  /** Returns the entry of a hash, or null. */
  @Nullable ExactEntry get(ShardPages shard, long hash) throws Exception {
    ExactEntry entry = pending == null ? null : pending.get(shard.number, hash);
    if (entry == null) {
      turnTo(shard, hash);
      entry = state.get(hash);
    }
    return living(shard, entry);
  }

  public void put(ShardPages shard, long hash, ExactEntry entry) throws Exception {
    if (pending == null) {
      turnTo(shard, hash);
      state.put(hash, entry);
    } else if (pending.put(shard.number, hash, entry)) {
      write(shard.number, shard.key);
    }
  }

  void putOrRemove(ShardPages shard, long hash, @Nullable ExactEntry entry) throws Exception {
    if (entry == null) {
      remove(shard, hash);
    } else {
      put(shard, hash, entry);
    }
  }

  public void remove(ShardPages shard, long hash) throws Exception {
    if (pending != null) {
      pending.remove(shard.number, hash);
    }
    // State may hold an earlier entry of the hash.
    turnTo(shard, hash);
    state.remove(hash);
  }

  /** Writes all pending entries; must be called before each checkpoint. */
  public void flush() throws Exception {
    if (pending != null) {
      pending.flush(this::write);
    }
  }

  private void write(int shard, Integer key) throws Exception {
    setCurrentKey.accept(key);
    pending.takeAll(
        shard,
        this::sliceOf,
        (slice, entries) -> {
          state.setCurrentNamespace(NAMESPACES[slice]);
          state.putAll(entries);
        });
  }

  /** Creates an entry with the time of the current event. */
  public ExactEntry entry(ShardPages shard, byte @Nullable [] key, @Nullable ExactEntry next) {
    Expiry expiry = shard.expiry();
    long endMillis = expiry == null ? 0 : expiry.endMillis();
    if (key != null || next != null) {
      return new ExactEntry(endMillis, key, next);
    }
    if (lastHash.endMillis() != endMillis) {
      lastHash = new ExactEntry(endMillis, null, null);
    }
    return lastHash;
  }

  /** Returns whether the current event, whose key is the key of this entry, has a later time. */
  public boolean isRenewed(ShardPages shard, ExactEntry entry) {
    Expiry expiry = shard.expiry();
    return expiry != null && expiry.sinceLastSeen() && entry.endMillis() < expiry.endMillis();
  }

  /**
   * Removes the expired entries of a slice; does not look at pending ones.
   *
   * @return how many entries were in the slice, expired ones included
   */
  public int sweep(ShardPages shard, int slice) throws Exception {
    setCurrentKey.accept(shard.key);
    state.setCurrentNamespace(NAMESPACES[slice]);
    int seen = 0;
    int removed = 0;
    Iterator<Map.Entry<Long, ExactEntry>> iterator = state.iterator();
    while (iterator.hasNext()) {
      Map.Entry<Long, ExactEntry> entry = iterator.next();
      ExactEntry living = living(shard, entry.getValue());
      if (living == null) {
        iterator.remove();
        removed++;
      } else if (!living.equals(entry.getValue())) {
        entry.setValue(living);
      }
      seen++;
    }
    if (removed > 0 && removed == seen) {
      // The heap backend would keep an empty map.
      state.clear();
    }
    return seen;
  }

  /** Returns the entries of a hash that have not expired, or null. */
  private @Nullable ExactEntry living(ShardPages shard, @Nullable ExactEntry entry) {
    Expiry expiry = shard.expiry();
    if (expiry == null || entry == null) {
      return entry;
    }
    if (entry.next() == null) {
      return expiry.isDue(entry.endMillis()) ? null : entry;
    }
    return entry.without(each -> expiry.isDue(each.endMillis()));
  }
}
