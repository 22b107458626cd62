package io.firstseen.operators.dedup.live;

import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import org.apache.flink.metrics.MetricGroup;

/** The set of the live keys of a task's shards. */
public interface LiveSet {
  /** The result of an add. */
  enum Addition {
    /** The key was not live; now it is. */
    NEW,

    /** The key was live, or the filter took it for live. */
    KNOWN,

    /** The key was not live, but the filter took it for live, as an audit found. */
    FALSELY_DROPPED
  }

  /** Makes a key live. */
  Addition add(ShardPages shard, Change<?> change) throws Exception;

  /**
   * Removes a key.
   *
   * @return whether it was live, or the filter took it for live
   */
  boolean remove(ShardPages shard, Change<?> change) throws Exception;

  /**
   * Adds a key that is known not to be live, even if the filter takes it for live. Deleting one of
   * two keys that share a fingerprint then leaves the other.
   */
  void learn(ShardPages shard, Change<?> change) throws Exception;

  /** Frees some space of expired keys. */
  default void sweep() throws Exception {}

  /** Brings the state up to date; must be called before each checkpoint. */
  default void flush() throws Exception {}

  default void register(MetricGroup metrics) {}
}
