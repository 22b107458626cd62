package io.firstseen.operators.dedup;

import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.TimeToLive;
import java.util.List;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.TestableKeyedStateBackend;
import org.apache.flink.runtime.state.heap.HeapKeyedStateBackend;
import org.apache.flink.streaming.api.operators.sorted.state.BatchExecutionKeyedStateBackend;
import org.jspecify.annotations.Nullable;

/** Rejects state and environments with which the dedup could not keep its guarantees. */
final class RestoreChecks {
  private RestoreChecks() {}

  /**
   * Returns the parameters to use.
   *
   * @param restored the parameters in state; none on a first start
   */
  static DedupParameters restored(DedupParameters asked, Iterable<DedupParameters> restored)
      throws IncompatibleStateException {
    DedupParameters effective = asked;
    for (DedupParameters one : restored) {
      List<String> contradictions = one.contradictions(asked);
      if (!contradictions.isEmpty()) {
        throw new IncompatibleStateException(
            "The dedup state cannot be restored by this job, they differ in: "
                + String.join(", ", contradictions));
      }
      effective = one.withTtl(asked.ttl());
    }
    return effective;
  }

  /**
   * Returns the ttl with which state was written; null if it has no ttl, and on the first start.
   */
  static @Nullable TimeToLive ttlOf(Iterable<DedupParameters> restored) {
    TimeToLive ttl = null;
    for (DedupParameters one : restored) {
      ttl = one.ttl();
    }
    return ttl;
  }

  static void checkBackend(KeyedStateBackend<?> backend) throws IncompatibleStateException {
    if (backend instanceof BatchExecutionKeyedStateBackend) {
      throw new IncompatibleStateException(
          "The dedup needs execution.runtime-mode STREAMING: a batch job sorts its events, so that"
              + " an add and a delete of one key could change places");
    }
    if (backend instanceof TestableKeyedStateBackend<?> wrapper
        && wrapper.getDelegatedKeyedStateBackend(true) instanceof HeapKeyedStateBackend
        && !(backend instanceof HeapKeyedStateBackend)) {
      throw new IncompatibleStateException(
          "The dedup cannot keep its state in a changelog over the heap backend: set"
              + " state.changelog.enabled to false, or the backend to rocksdb");
    }
  }

  static void checkMaxParallelism(int maxParallelism, DedupParameters parameters)
      throws IncompatibleStateException {
    if (maxParallelism != parameters.shardCount()) {
      throw new IncompatibleStateException(
          "The dedup's maximum parallelism must be its number of shards, %d, got %d"
              .formatted(parameters.shardCount(), maxParallelism));
    }
  }

  /** One of several tasks would receive events of shards that it does not own. */
  static void checkParallelism(int parallelism, boolean inTaskOfInput)
      throws IncompatibleStateException {
    if (inTaskOfInput && parallelism > 1) {
      throw new IncompatibleStateException(
          "The dedup was built for the one task of its input, but runs in %d: build the job for that parallelism"
              .formatted(parallelism));
    }
  }
}
