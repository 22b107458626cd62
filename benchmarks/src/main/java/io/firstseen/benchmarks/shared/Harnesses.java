package io.firstseen.benchmarks.shared;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.serializers.Change;
import io.firstseen.types.Operation;
import java.nio.ByteBuffer;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.jspecify.annotations.Nullable;

/** Single operators in Flink's harness, on the heap and with object reuse; not yet open. */
public final class Harnesses {
  private static final int MAX_CHECKPOINT_BYTES = 1 << 30;

  private Harnesses() {}

  /**
   * The keyed operator of a job.
   *
   * @param <I> type of its input
   * @param <O> type of its output
   * @param other an operator in its place; null for itself
   */
  @SuppressWarnings("unchecked") // The transformation has these types.
  public static <I, O> KeyedOneInputStreamOperatorTestHarness<Object, I, O> of(
      Transformation<?> operator, @Nullable StreamOperatorFactory<O> other) throws Exception {
    OneInputTransformation<I, O> keyed = (OneInputTransformation<I, O>) operator;
    KeyedOneInputStreamOperatorTestHarness<Object, I, O> harness =
        new KeyedOneInputStreamOperatorTestHarness<>(
            other == null ? keyed.getOperatorFactory() : other,
            (KeySelector<I, Object>) keyed.getStateKeySelector(),
            (TypeInformation<Object>) keyed.getStateKeyType(),
            keyed.getMaxParallelism(),
            1,
            0);
    harness.setCheckpointStorage(new JobManagerCheckpointStorage(MAX_CHECKPOINT_BYTES));
    harness.getExecutionConfig().enableObjectReuse();
    return harness;
  }

  /** The key of an event of {@link #record}. */
  public static byte[] key(long event) {
    return ByteBuffer.allocate(Long.BYTES).putLong(event).array();
  }

  /** A change by an event that is a number. */
  public static StreamRecord<Change<Long>> record(Operation operation, long event, long millis) {
    byte[] key = key(event);
    return new StreamRecord<>(
        new Change<>(operation, key, KeyHash.fixed().hash(key), event), millis);
  }
}
