package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.ShardKeys;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.ChangeSerializer;
import io.firstseen.serializers.Rejected;
import io.firstseen.serializers.RejectedSerializer;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.streaming.api.operators.ProcessOperator;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Compares the values of the metrics with an exact model; the tests of the jobs check their names.
 */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class DedupMetricsTest {
  private static final Shards SHARDS = new Shards(4);
  private static final CuckooShape SHAPE = CuckooShape.forCapacity(10_000, 1e-9);
  private static final KeyHash HASH = KeyHash.fixed();
  private static final TypeInformation<Change<String>> TYPE = ChangeSerializer.info(Types.STRING);
  private static final DedupParameters PARAMETERS =
      new DedupParameters(
          SHAPE.identityBits(),
          SHARDS.count(),
          HASH.algorithm().id(),
          HASH.keyCheck(),
          Canonicaliser.NONE.id(),
          Canonicaliser.NONE.version(),
          DedupMode.APPROXIMATE);

  private static final Map<String, ModelFilters.Kind> COUNTERS =
      Map.of(
          "accepted", ModelFilters.Kind.ACCEPTED,
          "duplicates", ModelFilters.Kind.DUPLICATE,
          "removed", ModelFilters.Kind.REMOVED,
          "unknownDeletes", ModelFilters.Kind.UNKNOWN_DELETE);

  enum Backend {
    HEAP(0),
    ROCKSDB_CACHE_OF_ALL(1 << 30),
    ROCKSDB_CACHE_OF_SOME(50_000),
    ROCKSDB_NO_CACHE(0);

    private final long pageCacheBytes;

    Backend(long pageCacheBytes) {
      this.pageCacheBytes = pageCacheBytes;
    }

    StateBackend create() {
      return (this == HEAP ? DedupTasks.Backend.HEAP : DedupTasks.Backend.ROCKSDB).create();
    }

    Backend other() {
      return this == HEAP ? ROCKSDB_CACHE_OF_SOME : HEAP;
    }
  }

  @ParameterizedTest
  @EnumSource
  void agreeWithAnExactModelAcrossBackendsAndScales(Backend backend) throws Exception {
    Stream stream = new Stream();
    OperatorSubtaskState state;
    try (Tasks tasks = new Tasks(backend, 1, null)) {
      tasks.check(stream.model);
      stream.feed(tasks, 40_000);
      tasks.check(stream.model);
      assertThat(stream.model.splits()).as("splits").isPositive();
      assertThat(tasks.sum("pageSplits")).isEqualTo(stream.model.splits());
      tasks.savepoint();
      stream.feed(tasks, 4_000);
      tasks.check(stream.model);
      state = tasks.savepoint();
    }
    try (Tasks tasks = new Tasks(backend.other(), 1, state)) {
      tasks.check(stream.model);
      assertThat(tasks.sum("pageSplits")).isZero();
      stream.feed(tasks, 4_000);
      tasks.check(stream.model);
      state = tasks.savepoint();
    }
    try (Tasks tasks = new Tasks(backend, 2, state)) {
      tasks.check(stream.model);
      stream.feed(tasks, 4_000);
      tasks.check(stream.model);
    }
  }

  @Test
  void anEmptyTaskHasNoLoadAndNoRate() throws Exception {
    try (Tasks tasks = new Tasks(Backend.HEAP, 1, null)) {
      assertThat(tasks.tasks.get(0).gauge("load").doubleValue()).isZero();
      assertThat(tasks.tasks.get(0).gauge("predictedFalsePositiveRate").doubleValue()).isZero();
      assertThat(tasks.sum("pages")).isEqualTo(SHARDS.count());
    }
  }

  @Test
  void aSmallCacheWritesBackAndALargeOneDoesNot() throws Exception {
    Map<Backend, Long> writeBacks = new EnumMap<>(Backend.class);
    for (Backend backend : Backend.values()) {
      Stream stream = new Stream();
      try (Tasks tasks = new Tasks(backend, 1, null)) {
        stream.feed(tasks, 40_000);
        if (backend == Backend.HEAP) {
          continue;
        }
        writeBacks.put(backend, tasks.sum("cacheWriteBacks"));
        long cachedBytes = tasks.sum("cachedBytes");
        if (backend == Backend.ROCKSDB_CACHE_OF_ALL) {
          assertThat(cachedBytes).isEqualTo(stream.model.heapBytes(shard -> true));
          assertThat(tasks.sum("cacheMisses")).isEqualTo(SHARDS.count());
        } else {
          // The pages that the last event needed stay until the next event.
          assertThat(cachedBytes).isPositive().isLessThan(backend.pageCacheBytes + 20_000);
        }
        if (backend == Backend.ROCKSDB_NO_CACHE) {
          assertThat(tasks.sum("cacheHits")).isZero();
        }
      }
    }
    // The log is shorter than half of the pages most of the time.
    assertThat(writeBacks.get(Backend.ROCKSDB_CACHE_OF_ALL)).isLessThan(1_000);
    assertThat(writeBacks.get(Backend.ROCKSDB_CACHE_OF_SOME))
        .isPositive()
        .isLessThan(writeBacks.get(Backend.ROCKSDB_NO_CACHE));
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "ROCKSDB_CACHE_OF_SOME"})
  void theModelNoticesAnEventThatIsMissingAndOneTooMany(Backend backend) throws Exception {
    Stream stream = new Stream();
    OperatorSubtaskState early;
    try (Tasks tasks = new Tasks(backend, 1, null)) {
      stream.feed(tasks, 5_000);
      early = tasks.savepoint();
      tasks.process(change(Operation.ADD, "only the operator knows it"));
      assertThatThrownBy(() -> tasks.check(stream.model)).hasMessageContaining("accepted");
    }
    try (Tasks tasks = new Tasks(backend, 1, early)) {
      tasks.check(stream.model);
      stream.model.apply(change(Operation.ADD, "only the model knows it"));
      assertThatThrownBy(() -> tasks.check(stream.model)).hasMessageContaining("keys");
    }
  }

  @Test
  void deadLettersAreCounted() throws Exception {
    OutputTag<Rejected<String>> rejected =
        new OutputTag<>("rejected", RejectedSerializer.info(Types.STRING));
    IdentifyFunction<String> identify =
        new IdentifyFunction<>(
            event -> event.equals("bad") ? "marked as bad" : null,
            event -> event.isEmpty() ? null : event.getBytes(UTF_8),
            event -> Operation.ADD,
            event -> null,
            Canonicaliser.NONE,
            null,
            KeyHashSource.inJob(HASH),
            rejected);
    TaskMetrics metrics = new TaskMetrics();
    try (MockEnvironment environment = metrics.environment(SHARDS, 1, 0);
        OneInputStreamOperatorTestHarness<String, Change<String>> harness =
            new OneInputStreamOperatorTestHarness<>(new ProcessOperator<>(identify), environment)) {
      harness.setup(TYPE.createSerializer(harness.getExecutionConfig().getSerializerConfig()));
      harness.open();
      assertThat(metrics.count("deadLetters")).isZero();
      for (String event : List.of("a", "", "b", "x".repeat(70_000), "bad", "a")) {
        harness.processElement(event, 0);
      }
      assertThat(metrics.count("deadLetters")).isEqualTo(3);
      assertThat(harness.getSideOutput(rejected))
          .extracting(record -> record.getValue().event())
          .containsExactly("", "x".repeat(70_000), "bad");
    }
  }

  private static Change<String> change(Operation operation, String key) {
    byte[] bytes = key.getBytes(UTF_8);
    return new Change<>(operation, bytes, HASH.hash(bytes), key);
  }

  /** Adds, repeats, deletes and unknown deletes, and what must become of them. */
  private static final class Stream {
    private final SplittableRandom random = new SplittableRandom(4);
    private final ModelFilters model = new ModelFilters(SHAPE, SHARDS);
    private final Map<ModelFilters.Kind, Long> counts = new EnumMap<>(ModelFilters.Kind.class);

    void feed(Tasks tasks, int events) throws Exception {
      for (int i = 0; i < events; i++) {
        String key = "key-" + random.nextInt(40_000);
        Change<String> change =
            change(random.nextInt(6) == 0 ? Operation.DELETE : Operation.ADD, key);
        ModelFilters.Kind kind = model.apply(change);
        counts.merge(kind, 1L, Long::sum);
        tasks.process(change).expected.merge(kind, 1L, Long::sum);
      }
      assertThat(counts).as("every kind occurs").hasSize(COUNTERS.size());
    }

    long count(ModelFilters.Kind kind) {
      return counts.get(kind);
    }
  }

  /** One task of the operator, and what must have become of the events that it got. */
  private static final class Task {
    private final TaskMetrics metrics = new TaskMetrics();
    private final Map<ModelFilters.Kind, Long> expected = new EnumMap<>(ModelFilters.Kind.class);
    private final MockEnvironment environment;
    private final KeyedOneInputStreamOperatorTestHarness<Integer, Change<String>, Change<String>>
        harness;

    Task(Backend backend, int parallelism, int subtask) throws Exception {
      ShardKeys keys = ShardKeys.of(SHARDS.count(), SHARDS.count());
      environment = metrics.environment(SHARDS, parallelism, subtask);
      harness =
          new KeyedOneInputStreamOperatorTestHarness<>(
              new DedupOperator<>(
                  PARAMETERS, 1, backend.pageCacheBytes, false, new SideOutputs<>(TYPE)),
              change -> keys.keyOf(SHARDS.shardOf(change.hash())),
              Types.INT,
              environment);
      harness.setStateBackend(backend.create());
      harness.setup(TYPE.createSerializer(harness.getExecutionConfig().getSerializerConfig()));
    }

    Number gauge(String name) {
      return metrics.gauge(name);
    }
  }

  /** All tasks of the operator, with their metrics. */
  private static final class Tasks implements AutoCloseable {
    private final Backend backend;
    private final List<Task> tasks = new ArrayList<>();

    Tasks(Backend backend, int parallelism, OperatorSubtaskState state) throws Exception {
      this.backend = backend;
      for (int subtask = 0; subtask < parallelism; subtask++) {
        Task task = new Task(backend, parallelism, subtask);
        if (state == null) {
          task.harness.initializeEmptyState();
        } else {
          task.harness.initializeState(
              AbstractStreamOperatorTestHarness.repartitionOperatorState(
                  state, SHARDS.count(), 1, parallelism, subtask));
        }
        task.harness.open();
        tasks.add(task);
      }
    }

    private int taskOf(int shard) {
      return ShardKeys.group(shard, SHARDS.count(), SHARDS.count()) * tasks.size() / SHARDS.count();
    }

    Task process(Change<String> change) throws Exception {
      Task task = tasks.get(taskOf(SHARDS.shardOf(change.hash())));
      task.harness.processElement(change, 0);
      ((DedupOperator<?, ?>) task.harness.getOperator()).decideAll();
      return task;
    }

    /** A canonical savepoint of the only task. */
    OperatorSubtaskState savepoint() throws Exception {
      return tasks
          .get(0)
          .harness
          .snapshotWithLocalState(1, 1, SavepointType.savepoint(SavepointFormatType.CANONICAL))
          .getJobManagerOwnedState();
    }

    long sum(String name) {
      return tasks.stream().mapToLong(task -> task.metrics.figure(name)).sum();
    }

    /** Compares every metric with the model, except the random ones of the cache. */
    void check(ModelFilters model) {
      for (int subtask = 0; subtask < tasks.size(); subtask++) {
        int number = subtask;
        check(tasks.get(subtask), model, shard -> taskOf(shard) == number);
      }
    }

    private void check(Task task, ModelFilters model, IntPredicate own) {
      TaskMetrics metrics = task.metrics;
      COUNTERS.forEach(
          (name, kind) ->
              assertThat(metrics.count(name))
                  .as(name)
                  .isEqualTo(task.expected.getOrDefault(kind, 0L)));
      assertThat(metrics.figure("keys")).as("keys").isEqualTo(model.keys(own));
      assertThat(metrics.figure("pages")).as("pages").isEqualTo(model.pages(own));
      assertThat(metrics.figure("pageBytes")).as("pageBytes").isEqualTo(model.bodyBytes(own));
      double load = metrics.gauge("load").doubleValue();
      double rate = metrics.gauge("predictedFalsePositiveRate").doubleValue();
      if (model.keys(own) > 0) {
        assertThat(metrics.figure("pageBytes")).isPositive();
        assertThat(load).as("load").isPositive().isLessThanOrEqualTo(1);
        assertThat(load).isEqualTo((double) model.keys(own) / model.slots(own));
        double expectedRate = model.predictedFalsePositiveRate(own);
        assertThat(rate).as("rate").isPositive().isCloseTo(expectedRate, within(rate / 1000));
      }
      if (backend == Backend.HEAP) {
        assertThat(metrics.names()).noneMatch(name -> name.startsWith("cache"));
      } else {
        assertThat(metrics.count("cacheHits") + metrics.count("cacheMisses"))
            .as("a page looked for each event")
            .isEqualTo(task.expected.values().stream().mapToLong(Long::longValue).sum());
      }
    }

    @Override
    public void close() throws Exception {
      for (Task task : tasks) {
        task.harness.close();
        task.environment.close();
      }
    }
  }
}
