package io.firstseen.operators.dedup;

import io.firstseen.serializers.Change;
import org.apache.flink.metrics.MetricGroup;

/** The set of the live keys of a task's shards. */
interface LiveSet {
  /** What an add came to. */
  enum Addition {
    /** The key was not live; now it is. */
    NEW,

    /** The key was live, or the filter took it for one that was. */
    KNOWN,

    /** The key was not live, and is known to have been taken for one that was. */
    FALSELY_DROPPED
  }

  /** Makes a key live. */
  Addition add(ShardPages shard, Change<?> change) throws Exception;

  /**
   * Makes a key live no longer.
   *
   * @return whether it was live, or was taken for a key that was
   */
  boolean remove(ShardPages shard, Change<?> change) throws Exception;

  /**
   * Makes a key live that is known not to be, also if the filter takes it for one that is: deleting
   * one of two keys that share a fingerprint leaves the other.
   */
  void learn(ShardPages shard, Change<?> change) throws Exception;

  /** Frees some room of keys whose time is up. */
  default void sweep() throws Exception {}

  /** Brings the state up to date; to be called before each checkpoint. */
  default void flush() throws Exception {}

  default void register(MetricGroup metrics) {}
}
