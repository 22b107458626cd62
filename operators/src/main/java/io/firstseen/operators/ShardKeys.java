package io.firstseen.operators;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.jspecify.annotations.Nullable;

/**
 * The Flink keys of the shards, chosen so that the shards fill the key groups evenly.
 *
 * <p>Flink hashes a key to its key group, so plain shard numbers would be distributed unevenly over
 * the groups. Here shard {@code s} of {@code n} has an integer key that falls into key group {@code
 * s * maxParallelism / n}. The keys depend on these two numbers only. They are part of the state's
 * format, because keyed state is stored under them.
 */
public final class ShardKeys implements Serializable {
  private static final long serialVersionUID = 1L;

  private final int shardCount;
  private final int maxParallelism;
  // Computed at the first use, so that a job does not contain thousands of keys.
  private transient Integer @Nullable [] keyByShard;

  private ShardKeys(int shardCount, int maxParallelism) {
    this.shardCount = shardCount;
    this.maxParallelism = maxParallelism;
  }

  /**
   * Chooses the keys.
   *
   * @param shardCount number of shards, at least 1
   * @param maxParallelism number of key groups of the operator, at least 1; one of the two numbers
   *     must divide the other
   * @throws IllegalArgumentException if neither number divides the other
   */
  public static ShardKeys of(int shardCount, int maxParallelism) {
    if (shardCount < 1 || maxParallelism < 1) {
      throw new IllegalArgumentException(
          "shardCount and maxParallelism must be at least 1, got %d and %d"
              .formatted(shardCount, maxParallelism));
    }
    if (shardCount % maxParallelism != 0 && maxParallelism % shardCount != 0) {
      throw new IllegalArgumentException(
          "shardCount and maxParallelism must divide one another, got %d and %d"
              .formatted(shardCount, maxParallelism));
    }
    return new ShardKeys(shardCount, maxParallelism);
  }

  private Integer[] keys() {
    int[] wantedInGroup = new int[maxParallelism];
    for (int shard = 0; shard < shardCount; shard++) {
      wantedInGroup[group(shard, shardCount, maxParallelism)]++;
    }
    int[] nextShardOfGroup = new int[maxParallelism];
    Arrays.fill(nextShardOfGroup, -1);
    for (int shard = shardCount - 1; shard >= 0; shard--) {
      nextShardOfGroup[group(shard, shardCount, maxParallelism)] = shard;
    }
    Integer[] keys = new Integer[shardCount];
    int missing = shardCount;
    for (int candidate = 0; missing > 0; candidate++) {
      int group = KeyGroupRangeAssignment.assignToKeyGroup(candidate, maxParallelism);
      if (wantedInGroup[group] > 0) {
        wantedInGroup[group]--;
        keys[nextShardOfGroup[group]++] = candidate;
        missing--;
      }
    }
    return keys;
  }

  /** Returns the key group of a shard. */
  public static int group(int shard, int shardCount, int maxParallelism) {
    return (int) ((long) shard * maxParallelism / shardCount);
  }

  /** Returns the Flink key of a shard; the same object at each call. */
  public Integer keyOf(int shard) {
    if (keyByShard == null) {
      keyByShard = keys();
    }
    return keyByShard[shard];
  }

  /** Returns the number of shards. */
  public int shardCount() {
    return shardCount;
  }
}
