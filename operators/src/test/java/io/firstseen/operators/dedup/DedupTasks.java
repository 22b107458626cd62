package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.operators.ShardKeys;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.ChangeSerializer;
import io.firstseen.serializers.CuckooPageSerializer;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.ExactEntry;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.base.ShortSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.internal.InternalMapState;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/** All tasks of a dedup operator in Flink's harness. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
final class DedupTasks implements AutoCloseable {
  private static final TypeInformation<Change<String>> TYPE = ChangeSerializer.info(Types.STRING);
  private static final OutputTag<Change<String>> DUPLICATES = new OutputTag<>("duplicates", TYPE);
  private static final OutputTag<Change<String>> UNKNOWN = new OutputTag<>("unknown-deletes", TYPE);

  private static final OutputTag<Change<String>> FALSELY_DROPPED =
      new OutputTag<>("falsely-dropped", TYPE);
  private static final Map<OutputTag<Change<String>>, Kind> SIDES =
      Map.of(
          DUPLICATES,
          Kind.DUPLICATE,
          UNKNOWN,
          Kind.UNKNOWN_DELETE,
          FALSELY_DROPPED,
          Kind.FALSELY_DROPPED);

  private final DedupParameters parameters;
  private final List<Task> tasks = new ArrayList<>();
  private @Nullable NearMatch lastMatch;

  enum Backend {
    HEAP,
    ROCKSDB;

    Backend other() {
      return this == HEAP ? ROCKSDB : HEAP;
    }

    StateBackend create() {
      if (this == HEAP) {
        return new HashMapStateBackend();
      }
      // The harness provides too little managed memory, so RocksDB logs a warning at each start.
      Configuration ownMemory = new Configuration().set(RocksDBOptions.USE_MANAGED_MEMORY, false);
      return new EmbeddedRocksDBStateBackend()
          .configure(ownMemory, DedupTasks.class.getClassLoader());
    }
  }

  /** State of all tasks, and how many they were. */
  record State(OperatorSubtaskState state, int parallelism) {}

  /** One task. */
  private static final class Task {
    private final TaskMetrics metrics = new TaskMetrics();
    private MockEnvironment environment;
    private KeyedOneInputStreamOperatorTestHarness<Integer, Change<String>, Change<String>> harness;
  }

  /**
   * @param state what to restore
   */
  DedupTasks(Backend backend, DedupParameters parameters, int parallelism, @Nullable State state)
      throws Exception {
    // Room for a few pages.
    this(backend, parameters, parallelism, 20_000, state);
  }

  DedupTasks(
      Backend backend,
      DedupParameters parameters,
      int parallelism,
      long pageCacheBytes,
      @Nullable State state)
      throws Exception {
    this.parameters = parameters;
    Shards shards = new Shards(parameters.shardCount());
    ShardKeys keys = ShardKeys.of(shards.count(), shards.count());
    for (int subtask = 0; subtask < parallelism; subtask++) {
      Task task = new Task();
      task.environment = task.metrics.environment(shards, parallelism, subtask);
      task.harness =
          new KeyedOneInputStreamOperatorTestHarness<>(
              new DedupOperator<>(parameters, 1, pageCacheBytes, false, new SideOutputs<>(TYPE)),
              change -> keys.keyOf(shards.shardOf(change.hash())),
              Types.INT,
              task.environment);
      task.harness.setStateBackend(backend.create());
      task.harness.getExecutionConfig().enableObjectReuse();
      task.harness.setup(
          TYPE.createSerializer(task.harness.getExecutionConfig().getSerializerConfig()));
      tasks.add(task);
      if (state == null) {
        task.harness.initializeEmptyState();
      } else {
        task.harness.initializeState(
            AbstractStreamOperatorTestHarness.repartitionOperatorState(
                state.state(), shards.count(), state.parallelism(), parallelism, subtask));
      }
      task.harness.open();
    }
  }

  /** Returns the outcome of a change. */
  Kind process(Change<String> change) throws Exception {
    return process(change, 0);
  }

  /** Returns the outcome of a change with a timestamp. */
  Kind process(Change<String> change, long timestamp) throws Exception {
    int shard = new Shards(parameters.shardCount()).shardOf(change.hash());
    Task task = tasks.get(shard * tasks.size() / parameters.shardCount());
    task.harness.processElement(change, timestamp);
    ((DedupOperator<?, ?>) task.harness.getOperator()).decideAll();
    Kind kind = null;
    if (!task.harness.getOutput().isEmpty()) {
      lastMatch = task.harness.extractOutputValues().get(0).match();
      kind = change.operation() == Operation.ADD ? Kind.ACCEPTED : Kind.REMOVED;
    }
    for (Map.Entry<OutputTag<Change<String>>, Kind> side : SIDES.entrySet()) {
      var records = task.harness.getSideOutput(side.getKey());
      if (records != null && !records.isEmpty()) {
        assertThat(kind).as("first outcome of %s", change).isNull();
        kind = side.getValue();
        lastMatch = records.peek().getValue().match();
        records.clear();
      }
    }
    task.harness.getOutput().clear();
    assertThat(kind).as("outcome of %s", change).isNotNull();
    return kind;
  }

  /** Returns the match of the last change. */
  @Nullable NearMatch lastMatch() {
    return lastMatch;
  }

  void processWithoutTimestamp(Change<String> change) throws Exception {
    tasks.get(0).harness.processElement(new StreamRecord<>(change));
    ((DedupOperator<?, ?>) tasks.get(0).harness.getOperator()).decideAll();
  }

  /** Sends a watermark to all tasks. */
  void watermark(long millis) throws Exception {
    for (Task task : tasks) {
      task.harness.processWatermark(millis);
      task.harness.getOutput().clear();
    }
  }

  /** Sets the clock of all tasks' machines. */
  void processingTime(long millis) throws Exception {
    for (Task task : tasks) {
      task.harness.setProcessingTime(millis);
    }
  }

  /** Timers of the machine's clock, and timers in state. */
  int timers() {
    return tasks.stream()
        .mapToInt(
            task ->
                task.harness.getProcessingTimeService().getNumActiveTimers()
                    + task.harness.numProcessingTimeTimers()
                    + task.harness.numEventTimeTimers())
        .sum();
  }

  /** A canonical savepoint, which any backend can restore. */
  State savepoint() throws Exception {
    List<OperatorSubtaskState> states = new ArrayList<>();
    for (Task task : tasks) {
      task.harness.prepareSnapshotPreBarrier(1);
      states.add(
          task.harness
              .snapshotWithLocalState(1, 1, SavepointType.savepoint(SavepointFormatType.CANONICAL))
              .getJobManagerOwnedState());
    }
    return new State(
        AbstractStreamOperatorTestHarness.repackageState(
            states.toArray(new OperatorSubtaskState[0])),
        tasks.size());
  }

  /** The bytes of all pages in state, by shard and number. */
  Map<String, byte[]> pagesInState() throws Exception {
    Map<String, byte[]> pages = new TreeMap<>();
    ShardKeys keys = ShardKeys.of(parameters.shardCount(), parameters.shardCount());
    for (int shard = 0; shard < parameters.shardCount(); shard++) {
      Task task = tasks.get(shard * tasks.size() / parameters.shardCount());
      AbstractStreamOperator<?> operator = (AbstractStreamOperator<?>) task.harness.getOperator();
      operator.setCurrentKey(keys.keyOf(shard));
      MapState<Integer, CuckooPage> state =
          operator.getKeyedStateStore().getMapState(DedupState.PAGES);
      for (Map.Entry<Integer, CuckooPage> page : state.entries()) {
        DataOutputSerializer out = new DataOutputSerializer(1 << 13);
        CuckooPageSerializer.INSTANCE.serialize(page.getValue(), out);
        pages.put(shard + "/" + page.getKey(), out.getCopyOfBuffer());
      }
    }
    return pages;
  }

  /** How many keys and namespaces of a state hold anything. */
  long namespaces(String state) {
    return tasks.stream()
        .mapToLong(
            task ->
                ((AbstractStreamOperator<?>) task.harness.getOperator())
                    .getKeyedStateBackend()
                    .getKeysAndNamespaces(state)
                    .count())
        .sum();
  }

  /** How many entries the exact set holds, living or not. */
  @SuppressWarnings("unchecked") // The operator's keys are integers, its slices shorts.
  long exactEntries() throws Exception {
    long entries = 0;
    for (Task task : tasks) {
      KeyedStateBackend<Integer> backend =
          ((AbstractStreamOperator<?>) task.harness.getOperator()).<Integer>getKeyedStateBackend();
      Object map = backend.getOrCreateKeyedState(ShortSerializer.INSTANCE, DedupState.EXACT);
      var state = (InternalMapState<Integer, Short, Long, ExactEntry>) map;
      List<Tuple2<Integer, Short>> slices;
      try (var all = backend.<Short>getKeysAndNamespaces(DedupState.EXACT.getName())) {
        slices = all.toList();
      }
      for (Tuple2<Integer, Short> slice : slices) {
        backend.setCurrentKey(slice.f0);
        state.setCurrentNamespace(slice.f1);
        for (var unused : state.keys()) {
          entries++;
        }
      }
    }
    return entries;
  }

  /** The sum over the tasks of a counter or a gauge. */
  long sum(String metric) {
    return tasks.stream().mapToLong(task -> task.metrics.figure(metric)).sum();
  }

  /** Returns the metrics that the first task registered. */
  TaskMetrics metrics() {
    return tasks.get(0).metrics;
  }

  @Override
  public void close() throws Exception {
    for (Task task : tasks) {
      task.harness.close();
      task.environment.close();
    }
  }
}
