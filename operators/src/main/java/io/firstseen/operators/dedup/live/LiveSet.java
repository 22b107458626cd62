package io.firstseen.operators.dedup.live;

import io.firstseen.filters.near.NearMatch;
import io.firstseen.operators.dedup.pages.ShardPages;
import io.firstseen.serializers.Change;
import org.apache.flink.metrics.MetricGroup;
import org.jspecify.annotations.Nullable;

/** The set of the live keys of a task's shards. */
public interface LiveSet {
  enum Addition {
    /** The key was not live; now it is. */
    NEW,

    /** The key was live, or the filter reported it as live. */
    KNOWN,

    /** The key was not live, but the filter reported it as live, which the audit detected. */
    FALSELY_DROPPED
  }

  Addition add(ShardPages shard, Change<?> change) throws Exception;

  /**
   * Returns the match of the text that {@link #add} reported last as known; null if keys are
   * compared as a whole.
   */
  default @Nullable NearMatch match() {
    return null;
  }

  /**
   * Removes a key.
   *
   * @return whether it was live, or the filter reported it as live
   */
  boolean remove(ShardPages shard, Change<?> change) throws Exception;

  /**
   * Adds a key that is known not to be live, even if the filter reports it as live. Deleting one of
   * two keys that share a fingerprint then keeps the other key.
   *
   * @throws UnsupportedOperationException if the set compares texts, which a warm start does not
   *     have
   */
  default void learn(ShardPages shard, Change<?> change) throws Exception {
    throw new UnsupportedOperationException("a set of texts cannot learn hashes");
  }

  /** Frees some space of expired keys. */
  default void sweep() throws Exception {}

  /** Updates the state; must be called before each checkpoint. */
  default void flush() throws Exception {}

  default void register(MetricGroup metrics) {}
}
