package io.firstseen.operators.dedup;

import io.firstseen.filters.cuckoo.Expiry;
import io.firstseen.filters.key.Shards;
import io.firstseen.types.ExactEntry;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.ShortSerializer;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalMapState;

/**
 * Entries of keyed state under 64-bit hashes; the backend's current key must be that of the hash's
 * shard at every call. Entries whose time is up are not there, though state may still hold them.
 *
 * <p>A shard's entries are cut into slices, which are namespaces of the state: so they can be gone
 * through in parts, and on the heap, where each slice is a map of its own, the first change after a
 * checkpoint copies one slice, not the shard.
 *
 * <p>Where state is not on the heap, new entries wait until a shard has some hundreds, or a
 * checkpoint comes, and are then written in the order of their hashes: many at once cost a third of
 * as many one by one.
 */
final class HashEntries {
  private static final int SLICE_BITS = 8;

  /** Slices of a shard. */
  static final int SLICES = 1 << SLICE_BITS;

  private static final Short[] NAMESPACES = new Short[SLICES];

  static {
    for (int slice = 0; slice < SLICES; slice++) {
      NAMESPACES[slice] = (short) slice;
    }
  }

  private final InternalMapState<Integer, Short, Long, ExactEntry> state;
  private final Supplier<Expiry> expiryOfShard;
  private final Shards shards;
  private final WaitingEntries waiting;
  private ExactEntry lastHash = ExactEntry.HASH;

  /**
   * @param expiryOfShard says for the current shard which entries' time is up; gives null if none's
   *     ever is
   * @param waiting where new entries wait; null if each is written at once
   */
  @SuppressWarnings("unchecked") // Flink's own state objects are what their descriptors say.
  HashEntries(
      KeyedStateBackend<?> backend,
      MapStateDescriptor<Long, ExactEntry> descriptor,
      Supplier<Expiry> expiryOfShard,
      Shards shards,
      WaitingEntries waiting)
      throws Exception {
    Object map = backend.getOrCreateKeyedState(ShortSerializer.INSTANCE, descriptor);
    this.state = (InternalMapState<Integer, Short, Long, ExactEntry>) map;
    this.expiryOfShard = expiryOfShard;
    this.shards = shards;
    this.waiting = waiting;
  }

  /** The slice of a hash, a number in [0, {@link #SLICES}). */
  private int sliceOf(long hash) {
    return (int) (shards.rest(hash) >>> (Long.SIZE - SLICE_BITS));
  }

  /** Turns to the slice of a hash, and gives the hash. */
  private Long turnTo(long hash) {
    state.setCurrentNamespace(NAMESPACES[sliceOf(hash)]);
    return hash;
  }

  /** The entry of a hash, or null. */
  ExactEntry get(long hash) throws Exception {
    ExactEntry entry = waiting == null ? null : waiting.get(shards.shardOf(hash), hash);
    return living(entry == null ? state.get(turnTo(hash)) : entry);
  }

  void put(long hash, ExactEntry entry) throws Exception {
    if (waiting == null) {
      state.put(turnTo(hash), entry);
    } else {
      int shard = shards.shardOf(hash);
      if (waiting.put(shard, hash, entry)) {
        write(shard);
      }
    }
  }

  void remove(long hash) throws Exception {
    if (waiting != null) {
      waiting.remove(shards.shardOf(hash), hash);
    }
    // State may hold an earlier entry of the hash.
    state.remove(turnTo(hash));
  }

  /** Writes all that waits; to be called before each checkpoint. Moves the current key. */
  void flush() throws Exception {
    if (waiting != null) {
      waiting.flush(this::write);
    }
  }

  private void write(int shard) throws Exception {
    waiting.takeAll(
        shard,
        this::sliceOf,
        (slice, entries) -> {
          state.setCurrentNamespace(NAMESPACES[slice]);
          state.putAll(entries);
        });
  }

  /** An entry with the time of the event at hand. */
  ExactEntry entry(byte[] key, ExactEntry next) {
    Expiry expiry = expiryOfShard.get();
    long endMillis = expiry == null ? 0 : expiry.endMillis();
    if (key != null || next != null) {
      return new ExactEntry(endMillis, key, next);
    }
    if (lastHash.endMillis() != endMillis) {
      lastHash = new ExactEntry(endMillis, null, null);
    }
    return lastHash;
  }

  /** Whether the event at hand gives an entry another time, being of the same key. */
  boolean isRenewed(ExactEntry entry) {
    Expiry expiry = expiryOfShard.get();
    return expiry != null && expiry.sinceLastSeen() && entry.endMillis() < expiry.endMillis();
  }

  /**
   * Removes the entries of a slice whose time is up; those that wait are left.
   *
   * @return how many there were, living or not
   */
  int sweep(int slice) throws Exception {
    state.setCurrentNamespace(NAMESPACES[slice]);
    int seen = 0;
    int removed = 0;
    Iterator<Map.Entry<Long, ExactEntry>> iterator = state.iterator();
    while (iterator.hasNext()) {
      Map.Entry<Long, ExactEntry> entry = iterator.next();
      ExactEntry living = living(entry.getValue());
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

  /** Those of the keys of a hash whose time is not up, or null. */
  private ExactEntry living(ExactEntry entry) {
    Expiry expiry = expiryOfShard.get();
    if (expiry == null || entry == null) {
      return entry;
    }
    ExactEntry next = living(entry.next());
    if (expiry.isDue(entry.endMillis())) {
      return next;
    }
    return Objects.equals(next, entry.next())
        ? entry
        : new ExactEntry(entry.endMillis(), entry.key(), next);
  }
}
