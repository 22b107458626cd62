package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.ShardKeys;
import io.firstseen.serializers.Change;
import io.firstseen.serializers.ChangeSerializer;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.lang.reflect.Constructor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.streaming.util.KeyedOneInputStreamOperatorTestHarness;
import org.apache.flink.util.OutputTag;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class DedupOperatorTest {
  private static final int EVENTS = Integer.getInteger("firstseen.scale", 1) > 1 ? 30_000 : 3_000;
  private static final int SHARDS = 16;
  private static final KeyHash HASH = KeyHash.fixed();
  private static final TypeInformation<Change<String>> TYPE = ChangeSerializer.info(Types.STRING);
  private static final OutputTag<Change<String>> DUPLICATES = new OutputTag<>("duplicates", TYPE);
  private static final OutputTag<Change<String>> UNKNOWN = new OutputTag<>("unknown-deletes", TYPE);
  static final DedupParameters PARAMETERS =
      new DedupParameters(
          CuckooShape.forCapacity(10_000, 1e-9).identityBits(),
          SHARDS,
          HASH.algorithm().id(),
          HASH.keyCheck(),
          "none",
          1,
          DedupMode.APPROXIMATE);

  /** Less than the rate of a filter of a few thousand keys. */
  private static final double TARGET_RATE = 1e-11;

  enum Backend {
    HEAP(Long.MAX_VALUE),
    ROCKSDB_CACHE_OF_ALL(1 << 30),
    ROCKSDB_CACHE_OF_SOME(20_000),
    ROCKSDB_NO_CACHE(0);

    private final long pageCacheBytes;

    Backend(long pageCacheBytes) {
      this.pageCacheBytes = pageCacheBytes;
    }

    StateBackend create() {
      return (this == HEAP ? DedupTasks.Backend.HEAP : DedupTasks.Backend.ROCKSDB).create();
    }
  }

  @ParameterizedTest
  @EnumSource
  void tellsFirstFromRepeatedAndHonoursDeletes(Backend backend) throws Exception {
    try (Harness dedup = new Harness(backend, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      Change<String> a = change(Operation.ADD, "a");
      Change<String> deleteA = change(Operation.DELETE, "a");
      Change<String> b = change(Operation.ADD, "b");
      for (Change<String> change : List.of(deleteA, a, a, b, deleteA, deleteA, a)) {
        dedup.processElement(change, 7);
      }
      assertThat(dedup.main()).containsExactly(a, b, deleteA, a);
      assertThat(dedup.side(DUPLICATES)).containsExactly(a);
      assertThat(dedup.side(UNKNOWN)).containsExactly(deleteA, deleteA);
      assertThat(dedup.getOutput()).allMatch(r -> ((StreamRecord<?>) r).getTimestamp() == 7);
    }
  }

  @ParameterizedTest
  @EnumSource
  void agreesWithAnExactModelAcrossRestoresAndScales(Backend backend) throws Exception {
    SplittableRandom random = new SplittableRandom(20261120);
    Set<String> live = new HashSet<>();
    OperatorSubtaskState state = null;
    int before = 1;
    for (int parallelism : new int[] {1, 4, 2, 3}) {
      List<Harness> subtasks = new ArrayList<>();
      for (int subtask = 0; subtask < parallelism; subtask++) {
        Harness dedup = new Harness(backend, PARAMETERS, parallelism, subtask);
        if (state == null) {
          dedup.initializeEmptyState();
        } else {
          dedup.initializeState(
              AbstractStreamOperatorTestHarness.repartitionOperatorState(
                  state, SHARDS, before, parallelism, subtask));
        }
        dedup.open();
        subtasks.add(dedup);
      }
      for (int i = 0; i < EVENTS; i++) {
        String key = "key-" + random.nextInt(40_000);
        Operation operation = random.nextInt(4) == 0 ? Operation.DELETE : Operation.ADD;
        Change<String> change = change(operation, key);
        Harness dedup =
            subtasks.get(
                ShardKeys.group(new Shards(SHARDS).shardOf(change.hash()), SHARDS, SHARDS)
                    * parallelism
                    / SHARDS);
        dedup.processElement(change, i);
        boolean expected = operation == Operation.ADD ? live.add(key) : live.remove(key);
        if (dedup.main().size() != (expected ? 1 : 0)) {
          throw new AssertionError("%s of %s gave %s".formatted(operation, key, dedup.main()));
        }
        dedup.getOutput().clear();
      }
      List<OperatorSubtaskState> states = new ArrayList<>();
      for (Harness dedup : subtasks) {
        states.add(dedup.snapshot(parallelism, 1));
        dedup.close();
      }
      state =
          AbstractStreamOperatorTestHarness.repackageState(
              states.toArray(new OperatorSubtaskState[0]));
      before = parallelism;
    }
    assertThat(live).hasSizeGreaterThan(Math.min(10_000, EVENTS));
  }

  @ParameterizedTest
  @EnumSource
  void aCheckpointHoldsWhatWasThereWhenItWasTaken(Backend backend) throws Exception {
    OperatorSubtaskState early;
    try (Harness dedup = new Harness(backend, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      for (int i = 0; i < 5_000; i++) {
        dedup.processElement(change(Operation.ADD, "early-" + i), i);
      }
      early = dedup.snapshot(1, 1);
      for (int i = 0; i < 5_000; i++) {
        dedup.processElement(change(Operation.DELETE, "early-" + i), i);
        dedup.processElement(change(Operation.ADD, "late-" + i), i);
      }
    }
    try (Harness restored = new Harness(backend, PARAMETERS, 1, 0)) {
      restored.initializeState(early);
      restored.open();
      for (int i = 0; i < 5_000; i++) {
        restored.processElement(change(Operation.ADD, "early-" + i), i);
      }
      assertThat(restored.main()).isEmpty();
      for (int i = 0; i < 5_000; i++) {
        restored.processElement(change(Operation.ADD, "late-" + i), i);
      }
      assertThat(restored.main()).hasSize(5_000);
    }
  }

  /**
   * Over the heap it holds on to the objects that it is given, and writes them as they are then.
   */
  @Test
  void refusesTheChangelogOverTheHeap() throws Exception {
    // Flink itself makes one behind a package-private door.
    Constructor<?> constructor =
        Class.forName("org.apache.flink.state.changelog.ChangelogStateBackend")
            .getDeclaredConstructor(StateBackend.class);
    constructor.setAccessible(true);
    StateBackend changelog = (StateBackend) constructor.newInstance(new HashMapStateBackend());
    try (Harness dedup = new Harness(changelog, 0, PARAMETERS, 1, 0)) {
      assertThatThrownBy(dedup::initializeEmptyState)
          .hasStackTraceContaining("cannot keep its state in a changelog over the heap backend")
          .matches(DedupOperatorTest::endsTheJob, "ends the job instead of restarting it");
    }
  }

  @ParameterizedTest
  @EnumSource
  void refusesStateOfAnotherHashKeyAndKeepsItsIdentityLength(Backend backend) throws Exception {
    OperatorSubtaskState state;
    try (Harness dedup = new Harness(backend, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      dedup.processElement(change(Operation.ADD, "a"), 0);
      state = dedup.snapshot(1, 1);
    }
    DedupParameters otherKey =
        new DedupParameters(
            PARAMETERS.identityBits(),
            SHARDS,
            PARAMETERS.hashAlgorithm(),
            42,
            "none",
            1,
            DedupMode.APPROXIMATE);
    try (Harness dedup = new Harness(backend, otherKey, 1, 0)) {
      assertThatThrownBy(() -> dedup.initializeState(state))
          .hasStackTraceContaining(
              "The dedup state cannot be restored by this job, they differ in: check of the hash"
                  + " key")
          .matches(DedupOperatorTest::endsTheJob, "ends the job instead of restarting it");
    }
    DedupParameters otherCapacity =
        new DedupParameters(
            PARAMETERS.identityBits() - 5,
            SHARDS,
            PARAMETERS.hashAlgorithm(),
            PARAMETERS.keyCheck(),
            "none",
            1,
            DedupMode.APPROXIMATE);
    try (Harness dedup = new Harness(backend, otherCapacity, 1, 0)) {
      dedup.initializeState(state);
      dedup.open();
      dedup.processElement(change(Operation.ADD, "a"), 0);
      assertThat(dedup.main()).isEmpty();
    }
  }

  /**
   * A page that has split must be removed from its own shard's state, regardless of the last
   * accessed shard. {@link PageLogTest} checks the pages of RocksDB.
   */
  @Test
  void stateHasEveryPageOnce() throws Exception {
    try (Harness dedup = new Harness(Backend.HEAP, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      for (int i = 0; i < SHARDS * 5_000; i++) {
        dedup.processElement(change(Operation.ADD, "key-" + i), i);
      }
      dedup.snapshot(1, 1);
      DedupOperator<?, ?> operator = (DedupOperator<?, ?>) dedup.getOperator();
      int pages = 0;
      for (int shard = 0; shard < SHARDS; shard++) {
        operator.setCurrentKey(Harness.KEYS.keyOf(shard));
        double covered = 0;
        for (int id : operator.getKeyedStateStore().getMapState(DedupState.PAGES).keys()) {
          covered += 1.0 / Integer.highestOneBit(id);
          pages++;
        }
        assertThat(covered).as("share of shard %d's identities with a page", shard).isEqualTo(1);
      }
      assertThat(pages).isGreaterThan(SHARDS);
    }
  }

  @Test
  void warnsOnceWhenThePredictedRateIsAboveTheTarget() throws Exception {
    List<String> warnings = new ArrayList<>();
    try (AutoCloseable log = warningsInto(warnings);
        Harness dedup = new Harness(Backend.HEAP, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      dedup.snapshot(1, 1);
      assertThat(warnings).isEmpty();
      for (int i = 0; i < 10_000; i++) {
        dedup.processElement(change(Operation.ADD, "key-" + i), i);
      }
      dedup.snapshot(2, 2);
      dedup.snapshot(3, 3);
    }
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).contains("10000 keys", "the target 1.0E-11");
  }

  @Test
  void warnsOfARateAndAnAuditThatTheStateDoesNotFollow() throws Exception {
    OperatorSubtaskState state;
    try (Harness dedup = new Harness(Backend.HEAP, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      state = dedup.snapshot(1, 1);
    }
    DedupParameters other =
        new DedupParameters(
                PARAMETERS.identityBits() + 3,
                SHARDS,
                PARAMETERS.hashAlgorithm(),
                PARAMETERS.keyCheck(),
                "none",
                1,
                DedupMode.APPROXIMATE)
            .withAudit(1024);
    List<String> warnings = new ArrayList<>();
    try (AutoCloseable log = warningsInto(warnings)) {
      for (DedupParameters given : List.of(PARAMETERS, other)) {
        try (Harness dedup = new Harness(Backend.HEAP, given, 1, 0)) {
          dedup.initializeState(state);
        }
        assertThat(warnings).hasSize(given == other ? 2 : 0);
      }
    }
    assertThat(warnings.get(0))
        .contains("so the rate at that capacity is 8.0 times the given rate");
    assertThat(warnings.get(1)).contains("keeps the audit of its state, 0; the job has 1024");
  }

  @Test
  void warnsOnceIfATtlInEventTimeGetsNoWatermarks() throws Exception {
    for (boolean watermarks : List.of(false, true)) {
      List<String> warnings = new ArrayList<>();
      try (AutoCloseable log = warningsInto(warnings);
          Harness dedup =
              new Harness(
                  Backend.HEAP, PARAMETERS.withTtl(TimeToLive.of(Duration.ofDays(1))), 1, 0)) {
        dedup.initializeEmptyState();
        dedup.open();
        for (int checkpoint = 1; checkpoint < 5; checkpoint++) {
          assertThat(warnings).hasSize(!watermarks && checkpoint > 2 ? 1 : 0);
          dedup.processElement(change(Operation.ADD, "key"), checkpoint);
          if (watermarks) {
            dedup.processWatermark(checkpoint);
          }
          dedup.snapshot(checkpoint, checkpoint);
        }
      }
      assertThat(warnings).hasSize(watermarks ? 0 : 1);
    }
  }

  /** Adds the warnings of operators to a list, until it is closed. */
  private static AutoCloseable warningsInto(List<String> warnings) {
    AbstractAppender appender =
        new AbstractAppender("warnings", null, null, true, Property.EMPTY_ARRAY) {
          @Override
          public void append(LogEvent event) {
            warnings.add(event.getMessage().getFormattedMessage());
          }
        };
    appender.start();
    Logger logger = (Logger) LogManager.getLogger(AbstractStreamOperator.class);
    logger.addAppender(appender);
    return () -> logger.removeAppender(appender);
  }

  /** Flink may run more tasks than the job was built for. */
  @Test
  void refusesToRunInSeveralTasksIfItWasBuiltForThatOfItsInput() throws Exception {
    try (var dedup =
        new KeyedOneInputStreamOperatorTestHarness<>(
            new DedupOperator<>(PARAMETERS, TARGET_RATE, 0, true, new SideOutputs<>(TYPE)),
            change -> Harness.KEYS.keyOf(new Shards(SHARDS).shardOf(change.hash())),
            Types.INT,
            SHARDS,
            2,
            0)) {
      dedup.setup(TYPE.createSerializer(dedup.getExecutionConfig().getSerializerConfig()));
      assertThatThrownBy(dedup::initializeEmptyState)
          .hasStackTraceContaining(
              "The dedup was built for the one task of its input, but runs in 2: build the job for"
                  + " that parallelism")
          .matches(DedupOperatorTest::endsTheJob, "ends the job instead of restarting it");
    }
  }

  private static boolean endsTheJob(Throwable failure) {
    return ThrowableClassifier.findThrowableOfThrowableType(
            failure, ThrowableType.NonRecoverableError)
        .isPresent();
  }

  static Change<String> change(Operation operation, String key) {
    byte[] bytes = key.getBytes(UTF_8);
    return new Change<>(operation, bytes, HASH.hash(bytes), key);
  }

  static final class Harness
      extends KeyedOneInputStreamOperatorTestHarness<Integer, Change<String>, Change<String>> {
    static final ShardKeys KEYS = ShardKeys.of(SHARDS, SHARDS);

    Harness(Backend backend, DedupParameters parameters, int parallelism, int subtask)
        throws Exception {
      this(backend.create(), backend.pageCacheBytes, parameters, parallelism, subtask);
    }

    Harness(
        StateBackend backend,
        long pageCacheBytes,
        DedupParameters parameters,
        int parallelism,
        int subtask)
        throws Exception {
      super(
          new DedupOperator<>(
              parameters, TARGET_RATE, pageCacheBytes, false, new SideOutputs<>(TYPE)),
          change -> KEYS.keyOf(new Shards(SHARDS).shardOf(change.hash())),
          Types.INT,
          SHARDS,
          parallelism,
          subtask);
      setStateBackend(backend);
      getExecutionConfig().enableObjectReuse();
      setup(TYPE.createSerializer(getExecutionConfig().getSerializerConfig()));
    }

    /** Decides on it at once; events waiting for others are {@link EventBatchTest}'s. */
    @Override
    public void processElement(StreamRecord<Change<String>> event) throws Exception {
      super.processElement(event);
      ((DedupOperator<?, ?>) getOperator()).decideAll();
    }

    /** Begins a checkpoint; the caller runs the futures that write it. */
    OperatorSnapshotFutures begin(long checkpoint) throws Exception {
      return begin(checkpoint, CheckpointType.CHECKPOINT);
    }

    OperatorSnapshotFutures begin(long checkpoint, SnapshotType type) throws Exception {
      return operator.snapshotState(
          checkpoint,
          0,
          new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault()),
          new MemCheckpointStreamFactory(1 << 24));
    }

    KeyedStateBackend<Integer> keyedState() {
      return ((AbstractStreamOperator<?>) getOperator()).getKeyedStateBackend();
    }

    @SuppressWarnings("unchecked") // The operator emits nothing else.
    List<Change<String>> main() {
      return getOutput().stream().map(r -> ((StreamRecord<Change<String>>) r).getValue()).toList();
    }

    List<Change<String>> side(OutputTag<Change<String>> tag) {
      return getSideOutput(tag).stream().map(StreamRecord::getValue).toList();
    }
  }
}
