package io.firstseen.benchmarks.compaction;

import io.firstseen.operators.compaction.Publication;
import io.firstseen.operators.compaction.SnapshotSpec;
import io.firstseen.operators.compaction.Snapshots;
import io.firstseen.serializers.HashedOperation;
import io.firstseen.serializers.ShardSnapshot;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.types.Operation;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.storage.JobManagerCheckpointStorage;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;

/** Each of the two operators of {@link Snapshots} in Flink's harness, on the heap. */
final class SnapshotHarness {
  private static final int MAX_CHECKPOINT_BYTES = 1 << 30;

  private SnapshotHarness() {}

  /** The operator that closes the windows of shards. */
  static KeyedOneInputStreamOperatorTestHarness<Object, HashedOperation, ShardSnapshot> compaction(
      SnapshotSpec spec) throws Exception {
    return open(spec, Publication.OF_ALL, "-compaction");
  }

  /** The operator that publishes. */
  static KeyedOneInputStreamOperatorTestHarness<Object, ShardSnapshot, SnapshotRecord> manifests(
      SnapshotSpec spec, Publication publication) throws Exception {
    return open(spec, publication, "-manifest");
  }

  @SuppressWarnings("unchecked") // Snapshots creates the operators with these types.
  private static <I, O> KeyedOneInputStreamOperatorTestHarness<Object, I, O> open(
      SnapshotSpec spec, Publication publication, String step) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    OneInputTransformation<I, O> operator =
        (OneInputTransformation<I, O>)
            Snapshots.of(env.fromData(new HashedOperation(0, Operation.ADD)), spec, publication)
                .getTransformation()
                .getTransitivePredecessors()
                .stream()
                .filter(each -> each.getName().equals(spec.setName() + step))
                .findFirst()
                .orElseThrow();
    KeyedOneInputStreamOperatorTestHarness<Object, I, O> harness =
        new KeyedOneInputStreamOperatorTestHarness<>(
            operator.getOperatorFactory(),
            (KeySelector<I, Object>) operator.getStateKeySelector(),
            (TypeInformation<Object>) operator.getStateKeyType(),
            operator.getMaxParallelism(),
            1,
            0);
    harness.setStateBackend(new HashMapStateBackend());
    harness.setCheckpointStorage(new JobManagerCheckpointStorage(MAX_CHECKPOINT_BYTES));
    harness.getExecutionConfig().enableObjectReuse();
    harness.open();
    return harness;
  }
}
