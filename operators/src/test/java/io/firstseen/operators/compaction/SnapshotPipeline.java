package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Shards;
import io.firstseen.operators.ShardKeys;
import io.firstseen.types.HashedOperation;
import io.firstseen.types.Operation;
import io.firstseen.types.ShardSnapshot;
import io.firstseen.types.SnapshotRecord;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.operators.KeyedProcessOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;

/**
 * The real operators in Flink's harnesses, wired like {@link Snapshots}: some subtasks of the
 * compaction, and one manifest function that reads them at uneven speeds, drawn from a seed.
 */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
final class SnapshotPipeline implements AutoCloseable {

  enum Backend {
    HEAP,
    ROCKSDB;

    StateBackend create() {
      if (this == HEAP) {
        return new HashMapStateBackend();
      }
      // The harness gives too little managed memory, and RocksDB says so at each start.
      Configuration ownMemory = new Configuration().set(RocksDBOptions.USE_MANAGED_MEMORY, false);
      return new EmbeddedRocksDBStateBackend()
          .configure(ownMemory, SnapshotPipeline.class.getClassLoader());
    }
  }

  /** All state of a pipeline, as a canonical savepoint. */
  record Savepoint(
      int parallelism, OperatorSubtaskState compaction, OperatorSubtaskState manifest) {}

  private static final class Compaction
      extends KeyedOneInputStreamOperatorTestHarness<Integer, HashedOperation, ShardSnapshot> {
    Compaction(SnapshotSpec spec, int parallelism, int subtask) throws Exception {
      super(
          new CompactionOperator(spec),
          new Snapshots.ByShard(spec.snapshotShards()),
          Types.INT,
          Snapshots.MAX_PARALLELISM,
          parallelism,
          subtask);
    }
  }

  private static final class Manifests
      extends KeyedOneInputStreamOperatorTestHarness<String, ShardSnapshot, SnapshotRecord> {
    Manifests(SnapshotSpec spec) throws Exception {
      super(
          new KeyedProcessOperator<>(new ManifestFunction(spec)),
          snapshot -> spec.setName(),
          Types.STRING,
          1,
          1,
          0);
    }
  }

  private final SnapshotSpec spec;
  private final int parallelism;
  private final SplittableRandom speeds;
  private final List<Compaction> subtasks = new ArrayList<>();
  private final List<Queue<Object>> channels = new ArrayList<>();
  private final long[] channelWatermarks;
  private final Manifests manifests;
  private long manifestWatermark = Long.MIN_VALUE;
  private long checkpointId;

  /** Starts a pipeline, from a savepoint if there is one. */
  SnapshotPipeline(
      SnapshotSpec spec, Backend backend, int parallelism, Savepoint savepoint, long seed)
      throws Exception {
    this.spec = spec;
    this.parallelism = parallelism;
    this.speeds = new SplittableRandom(seed);
    this.channelWatermarks = new long[parallelism];
    for (int subtask = 0; subtask < parallelism; subtask++) {
      Compaction compaction = new Compaction(spec, parallelism, subtask);
      start(
          compaction,
          backend,
          savepoint == null
              ? null
              : AbstractStreamOperatorTestHarness.repartitionOperatorState(
                  savepoint.compaction,
                  Snapshots.MAX_PARALLELISM,
                  savepoint.parallelism,
                  parallelism,
                  subtask));
      subtasks.add(compaction);
      channels.add(new ArrayDeque<>());
      channelWatermarks[subtask] = Long.MIN_VALUE;
    }
    manifests = new Manifests(spec);
    start(manifests, backend, savepoint == null ? null : savepoint.manifest);
  }

  private static void start(
      AbstractStreamOperatorTestHarness<?> harness, Backend backend, OperatorSubtaskState state)
      throws Exception {
    harness.setStateBackend(backend.create());
    if (state == null) {
      harness.initializeEmptyState();
    } else {
      harness.initializeState(state);
    }
    harness.open();
  }

  void add(long hash, long eventTimeMillis) throws Exception {
    operation(new HashedOperation(hash, Operation.ADD), eventTimeMillis);
  }

  void delete(long hash, long eventTimeMillis) throws Exception {
    operation(new HashedOperation(hash, Operation.DELETE), eventTimeMillis);
  }

  void operation(HashedOperation operation, long eventTimeMillis) throws Exception {
    int shard = new Shards(spec.snapshotShards()).shardOf(operation.hash());
    int group = ShardKeys.group(shard, spec.snapshotShards(), Snapshots.MAX_PARALLELISM);
    int subtask = group * parallelism / Snapshots.MAX_PARALLELISM;
    subtasks.get(subtask).processElement(operation, eventTimeMillis);
    collect();
  }

  void watermark(long watermark) throws Exception {
    for (Compaction subtask : subtasks) {
      subtask.processWatermark(watermark);
    }
    collect();
    deliver(speeds.nextInt(1 + 2 * waiting()));
  }

  void endOfInput() throws Exception {
    watermark(Long.MAX_VALUE);
  }

  private void collect() {
    for (int subtask = 0; subtask < parallelism; subtask++) {
      channels.get(subtask).addAll(subtasks.get(subtask).getOutput());
      subtasks.get(subtask).getOutput().clear();
    }
  }

  private int waiting() {
    return channels.stream().mapToInt(Queue::size).sum();
  }

  private void deliver(int count) throws Exception {
    for (int i = 0; i < count && waiting() > 0; i++) {
      int channel = speeds.nextInt(parallelism);
      Object next = channels.get(channel).poll();
      if (next instanceof Watermark watermark) {
        channelWatermarks[channel] = watermark.getTimestamp();
        long least = Arrays.stream(channelWatermarks).min().getAsLong();
        if (least > manifestWatermark) {
          manifestWatermark = least;
          manifests.processWatermark(least);
        }
      } else if (next != null) {
        @SuppressWarnings("unchecked")
        StreamRecord<ShardSnapshot> snapshot = (StreamRecord<ShardSnapshot>) next;
        manifests.processElement(snapshot);
      } else {
        i--;
      }
    }
  }

  /** What was published since the last call. */
  List<SnapshotRecord> records() throws Exception {
    deliver(Integer.MAX_VALUE);
    List<SnapshotRecord> records = manifests.extractOutputValues();
    manifests.getOutput().clear();
    return records;
  }

  /** What the gauges of all subtasks say together. */
  long liveKeys() {
    return subtasks.stream()
        .mapToLong(subtask -> ((CompactionOperator) subtask.getOperator()).liveKeys())
        .sum();
  }

  /** Number of event-time timers that wait, of all operators. */
  int timers() {
    return manifests.numEventTimeTimers()
        + subtasks.stream().mapToInt(Compaction::numEventTimeTimers).sum();
  }

  /** Takes a savepoint, behind all that the subtasks sent. */
  Savepoint savepoint() throws Exception {
    deliver(Integer.MAX_VALUE);
    checkpointId++;
    SavepointType type = SavepointType.savepoint(SavepointFormatType.CANONICAL);
    List<OperatorSubtaskState> states = new ArrayList<>();
    for (Compaction subtask : subtasks) {
      states.add(
          subtask
              .snapshotWithLocalState(checkpointId, checkpointId, type)
              .getJobManagerOwnedState());
    }
    return new Savepoint(
        parallelism,
        AbstractStreamOperatorTestHarness.repackageState(
            states.toArray(new OperatorSubtaskState[0])),
        manifests
            .snapshotWithLocalState(checkpointId, checkpointId, type)
            .getJobManagerOwnedState());
  }

  @Override
  public void close() throws Exception {
    for (Compaction subtask : subtasks) {
      subtask.close();
    }
    manifests.close();
  }
}
