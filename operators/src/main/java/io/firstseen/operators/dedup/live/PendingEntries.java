package io.firstseen.operators.dedup.live;

import io.firstseen.filters.key.Shards;
import io.firstseen.types.ExactEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongToIntFunction;
import org.apache.flink.util.function.BiConsumerWithException;
import org.jspecify.annotations.Nullable;

/** Entries of a task's shards that have not been written to state yet. */
public final class PendingEntries {
  /** The maximum number of pending entries of all shards together; about 10 MB of hashes. */
  private static final int MAX_ENTRIES = 1 << 17;

  /**
   * The maximum number of pending entries of a shard. They are written in one call, which takes a
   * millisecond or two.
   */
  private static final int MAX_OF_A_SHARD = 1024;

  /** The maximum number of bytes of keys in all shards together. */
  private static final int MAX_KEY_BYTES = 1 << 24;

  private final int shardBits;
  private final OfShard[] byNumber;
  private final List<OfShard> shards = new ArrayList<>();

  private static final class OfShard {
    private final int number;
    private final Integer key;
    private final Map<Long, ExactEntry> entries = new HashMap<>();
    private long keyBytes;

    OfShard(int number, Integer key) {
      this.number = number;
      this.key = key;
    }
  }

  public PendingEntries(int shardCount) {
    this.shardBits = new Shards(shardCount).bits();
    this.byNumber = new OfShard[shardCount];
  }

  /** Adds a shard of this task. */
  public void add(int number, Integer key) {
    byNumber[number] = new OfShard(number, key);
    shards.add(byNumber[number]);
  }

  /** Returns the pending entry of a hash, or null. */
  @Nullable ExactEntry get(int shard, long hash) {
    return byNumber[shard].entries.get(hash);
  }

  /** Adds an entry; returns whether the shard's entries must be written now. */
  public boolean put(int shard, long hash, ExactEntry entry) {
    OfShard pending = byNumber[shard];
    pending.entries.put(hash, entry);
    pending.keyBytes += entry.key() == null ? 0 : entry.key().length;
    return pending.entries.size() >= Math.min(MAX_OF_A_SHARD, MAX_ENTRIES / shards.size())
        || pending.keyBytes >= MAX_KEY_BYTES / shards.size();
  }

  public void remove(int shard, long hash) {
    byNumber[shard].entries.remove(hash);
  }

  /** Calls the writer with number and key of every shard with entries. */
  void flush(BiConsumerWithException<Integer, Integer, Exception> writer) throws Exception {
    for (OfShard shard : shards) {
      if (!shard.entries.isEmpty()) {
        writer.accept(shard.number, shard.key);
      }
    }
  }

  /**
   * Removes the entries of a shard and passes them to the writer, slice by slice, in the order of
   * their hashes.
   *
   * @param sliceOf the slice of a hash, in the order of the hashes
   */
  void takeAll(
      int shard,
      LongToIntFunction sliceOf,
      BiConsumerWithException<Integer, Map<Long, ExactEntry>, Exception> writer)
      throws Exception {
    OfShard pending = byNumber[shard];
    long[] hashes = new long[pending.entries.size()];
    int count = 0;
    for (long hash : pending.entries.keySet()) {
      hashes[count++] = Long.rotateLeft(hash, shardBits);
    }
    // The slice follows the shard bits, which may differ: bands of texts are in the shard of their
    // scope. A signed sort is enough, because hashes with different top bits are in different
    // slices.
    Arrays.sort(hashes);
    for (int i = 0; i < count; i++) {
      hashes[i] = Long.rotateRight(hashes[i], shardBits);
    }
    for (int i = 0; i < count; ) {
      int slice = sliceOf.applyAsInt(hashes[i]);
      Map<Long, ExactEntry> ofSlice = new LinkedHashMap<>();
      for (; i < count && sliceOf.applyAsInt(hashes[i]) == slice; i++) {
        ofSlice.put(hashes[i], pending.entries.get(hashes[i]));
      }
      writer.accept(slice, ofSlice);
    }
    pending.entries.clear();
    pending.keyBytes = 0;
  }
}
