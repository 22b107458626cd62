package io.firstseen.operators.dedup;

import static io.firstseen.operators.dedup.DedupOperatorTest.PARAMETERS;
import static io.firstseen.operators.dedup.DedupOperatorTest.change;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.operators.dedup.DedupOperatorTest.Backend;
import io.firstseen.operators.dedup.DedupOperatorTest.Harness;
import io.firstseen.operators.dedup.pages.CheckpointProgress;
import io.firstseen.operators.dedup.pages.RunningCheckpoints;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import io.firstseen.types.TimeToLive.Clock;
import io.firstseen.types.TimeToLive.Since;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.state.KeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFinalizer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The content of a checkpoint does not depend on operations while it is written. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class RunningCheckpointsTest {
  private static final int KEYS = 12_000 * Integer.getInteger("firstseen.scale", 1);
  private static final long MILLIS_AN_EVENT = 10;

  /** Longer than a test, whose events are of several epochs. */
  private static final DedupParameters EXPIRING =
      PARAMETERS.withTtl(new TimeToLive(8_000_000, Clock.EVENT, Since.LAST_SEEN));

  private long nowMillis;

  @ParameterizedTest
  @CsvSource({"HEAP, false", "HEAP, true", "ROCKSDB_CACHE_OF_SOME, true"})
  void aCheckpointWrittenWhileTheStreamGoesOnHoldsWhatWasThereWhenItWasTaken(
      Backend backend, boolean isCompletionReported) throws Exception {
    SplittableRandom random = new SplittableRandom(1120);
    Set<String> live = new HashSet<>();
    List<Set<String>> expected = new ArrayList<>();
    List<OperatorSubtaskState> states = new ArrayList<>();
    try (Harness dedup = new Harness(backend, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      for (int checkpoint = 1; checkpoint <= 6; checkpoint++) {
        // A page gets few keys while some of the checkpoints are written, and many while others
        // are.
        feed(dedup, random, live, checkpoint % 2 == 0 ? KEYS / 120 : KEYS / 8);
        expected.add(Set.copyOf(live));
        OperatorSnapshotFutures begun = dedup.begin(checkpoint);
        feed(dedup, random, live, checkpoint % 3 == 0 ? KEYS / 120 : KEYS / 8);
        states.add(written(begun));
        if (isCompletionReported) {
          dedup.notifyOfCompletedCheckpoint(checkpoint);
        }
      }
    }
    for (int i = 0; i < states.size(); i++) {
      assertHolds(backend, states.get(i), expected.get(i));
    }
  }

  /** A savepoint can take longer than checkpoints that begin after it. */
  @ParameterizedTest
  @EnumSource
  void theEndOfOneCheckpointDoesNotEndAnother(Backend backend) throws Exception {
    SplittableRandom random = new SplittableRandom(1121);
    Set<String> live = new HashSet<>();
    OperatorSubtaskState state;
    Set<String> expected;
    try (Harness dedup = new Harness(backend, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      feed(dedup, random, live, KEYS / 4);
      expected = Set.copyOf(live);
      OperatorSnapshotFutures savepoint = dedup.begin(1);
      feed(dedup, random, live, KEYS / 24);
      written(dedup.begin(2));
      dedup.notifyOfCompletedCheckpoint(2);
      feed(dedup, random, live, KEYS / 8);
      state = written(savepoint);
    }
    assertHolds(backend, state, expected);
  }

  /** Pages that nothing has changed between two checkpoints are the same objects in both. */
  @ParameterizedTest
  @EnumSource
  void whatOneCheckpointHasWrittenAnotherMayStillHaveToWrite(Backend backend) throws Exception {
    SplittableRandom random = new SplittableRandom(1122);
    Set<String> live = new HashSet<>();
    OperatorSubtaskState state;
    Set<String> expected;
    try (Harness dedup = new Harness(backend, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      feed(dedup, random, live, 2 * KEYS);
      expected = Set.copyOf(live);
      OperatorSnapshotFutures first = dedup.begin(1);
      OperatorSnapshotFutures second = dedup.begin(2);
      feed(dedup, random, live, 20);
      written(first);
      feed(dedup, random, live, KEYS / 6);
      state = written(second);
    }
    assertHolds(backend, state, expected);
  }

  @Test
  void whatWaitsBesideAPageWaitsUntilThatIsWritten() throws Exception {
    SplittableRandom random = new SplittableRandom(1124);
    Set<String> live = new HashSet<>();
    try (Harness dedup = new Harness(Backend.HEAP, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      feed(dedup, random, live, 2 * KEYS);
      OperatorSnapshotFutures checkpoint = dedup.begin(1);
      feed(dedup, random, live, 100);
      assertThat(pagesWithWaitingKeys(dedup)).isPositive();
      written(checkpoint);
      // Enough to ask for each page, in none of which as many wait as are let wait.
      feed(dedup, random, live, 400);
      assertThat(pagesWithWaitingKeys(dedup)).isZero();
    }
  }

  private static long pagesWithWaitingKeys(Harness dedup) throws Exception {
    KeyedStateBackend<Integer> state = dedup.keyedState();
    MapState<Integer, CuckooPage> pages =
        state.getPartitionedState(
            VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, DedupState.PAGES);
    long waiting = 0;
    for (int shard = 0; shard < PARAMETERS.shardCount(); shard++) {
      state.setCurrentKey(Harness.KEYS.keyOf(shard));
      for (CuckooPage page : pages.values()) {
        waiting += page.hasPending() ? 1 : 0;
      }
    }
    return waiting;
  }

  @ParameterizedTest
  @EnumSource
  void whatALaterCheckpointHasWrittenAnEarlierOneMayStillHaveToWrite(Backend backend)
      throws Exception {
    SplittableRandom random = new SplittableRandom(1123);
    Set<String> live = new HashSet<>();
    OperatorSubtaskState state;
    Set<String> expected;
    try (Harness dedup = new Harness(backend, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      feed(dedup, random, live, 2 * KEYS);
      expected = Set.copyOf(live);
      OperatorSnapshotFutures savepoint = dedup.begin(1);
      feed(dedup, random, live, 20);
      OperatorSnapshotFutures checkpoint = dedup.begin(2);
      feed(dedup, random, live, 20);
      written(checkpoint);
      feed(dedup, random, live, KEYS / 6);
      state = written(savepoint);
    }
    assertHolds(backend, state, expected);
  }

  /**
   * Checkpoints overlap and end in any order. Some are aborted, before or after they are written.
   * The end of some, as of savepoints, is never reported.
   */
  @ParameterizedTest
  @CsvSource({"1, false", "2, false", "5, true"})
  void everyCheckpointHoldsWhatWasThereWhenItBegan(long seed, boolean expiring) throws Exception {
    runOverlappingCheckpoints(seed, expiring);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"3, false", "4, false", "6, true", "7, true"})
  void soDoMoreOfThem(long seed, boolean expiring) throws Exception {
    runOverlappingCheckpoints(seed, expiring);
  }

  private void runOverlappingCheckpoints(long seed, boolean expiring) throws Exception {
    DedupParameters parameters = expiring ? EXPIRING : PARAMETERS;
    SplittableRandom random = new SplittableRandom(seed);
    Set<String> live = new HashSet<>();
    List<Running> running = new ArrayList<>();
    List<Set<String>> expected = new ArrayList<>();
    List<OperatorSubtaskState> states = new ArrayList<>();
    ExecutorService writer = Executors.newSingleThreadExecutor();
    try (Harness dedup = new Harness(Backend.HEAP, parameters, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      feed(dedup, random, live, 2 * KEYS);
      for (long checkpoint = 1; checkpoint <= 12; checkpoint++) {
        running.add(new Running(checkpoint, Set.copyOf(live), dedup.begin(checkpoint)));
        if (expiring) {
          dedup.processWatermark(nowMillis);
          dedup.getOutput().clear();
        }
        feed(dedup, random, live, some(random));
        while (running.size() > random.nextInt(4)) {
          Running next = running.remove(random.nextInt(running.size()));
          boolean aborted = random.nextInt(4) == 0;
          if (aborted) {
            dedup.getOperator().notifyCheckpointAborted(next.checkpoint);
            feed(dedup, random, live, some(random));
          }
          if (aborted && random.nextBoolean()) {
            next.futures.cancel();
          } else {
            Future<OperatorSubtaskState> written = writer.submit(() -> written(next.futures));
            feed(dedup, random, live, some(random));
            OperatorSubtaskState state = written.get();
            if (!aborted) {
              expected.add(next.expected);
              states.add(state);
            }
            feed(dedup, random, live, some(random));
            if (random.nextInt(3) > 0) {
              dedup.notifyOfCompletedCheckpoint(next.checkpoint);
            }
          }
          feed(dedup, random, live, some(random));
        }
      }
    } finally {
      writer.shutdownNow();
    }
    assertThat(states).hasSizeGreaterThan(4);
    for (int i = 0; i < states.size(); i++) {
      assertHolds(Backend.HEAP, parameters, states.get(i), expected.get(i));
    }
  }

  /**
   * Flink tells no task that a savepoint is complete, and writes a canonical one in its own way.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void everySavepointHoldsWhatWasThereWhenItBegan(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    Set<String> live = new HashSet<>();
    List<Running> running = new ArrayList<>();
    List<Set<String>> expected = new ArrayList<>();
    List<OperatorSubtaskState> states = new ArrayList<>();
    ExecutorService writer = Executors.newSingleThreadExecutor();
    try (Harness dedup = new Harness(Backend.HEAP, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      feed(dedup, random, live, KEYS);
      for (long checkpoint = 1; checkpoint <= 24; checkpoint++) {
        SnapshotType type =
            SavepointType.savepoint(
                random.nextBoolean() ? SavepointFormatType.CANONICAL : SavepointFormatType.NATIVE);
        running.add(new Running(checkpoint, Set.copyOf(live), dedup.begin(checkpoint, type)));
        feed(dedup, random, live, some(random));
        if (running.size() > 10 + random.nextInt(4)) {
          Running next = running.remove(random.nextInt(running.size()));
          Future<OperatorSubtaskState> written = writer.submit(() -> written(next.futures));
          feed(dedup, random, live, some(random));
          expected.add(next.expected);
          states.add(written.get());
          feed(dedup, random, live, some(random));
        }
      }
    } finally {
      writer.shutdownNow();
    }
    assertThat(states).hasSizeGreaterThan(5);
    for (int i = 0; i < states.size(); i++) {
      assertHolds(Backend.HEAP, states.get(i), expected.get(i));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void whatIsFirstAskedForWhileItIsWrittenIsWrittenAsItWas(long seed) throws Exception {
    SplittableRandom random = new SplittableRandom(seed);
    Set<String> live = new HashSet<>();
    OperatorSubtaskState state;
    try (Harness dedup = new Harness(Backend.HEAP, PARAMETERS, 1, 0)) {
      dedup.initializeEmptyState();
      dedup.open();
      feed(dedup, random, live, KEYS);
      state = written(dedup.begin(1));
    }
    ExecutorService writer = Executors.newSingleThreadExecutor();
    try {
      for (int restore = 0; restore < 5; restore++) {
        try (Harness dedup = new Harness(Backend.HEAP, PARAMETERS, 1, 0)) {
          dedup.initializeState(state);
          dedup.open();
          final Set<String> expected = Set.copyOf(live);
          OperatorSnapshotFutures begun = dedup.begin(2);
          Future<OperatorSubtaskState> written = writer.submit(() -> written(begun));
          feed(dedup, random, live, KEYS / 40);
          assertHolds(Backend.HEAP, written.get(), expected);
          state = written(dedup.begin(3));
        }
      }
    } finally {
      writer.shutdownNow();
    }
    assertHolds(Backend.HEAP, state, live);
  }

  @Test
  void aShardIsReadAsLongAsACheckpointThatHasThePageHasNotWrittenItsPages() {
    RunningCheckpoints checkpoints = new RunningCheckpoints();
    checkpoints.begin(7, new int[] {2, 1});
    CheckpointProgress first = checkpoints.last();
    checkpoints.begin(8, new int[] {2, 1});
    checkpoints.last().wrote(0);
    checkpoints.last().wrote(0);
    first.wrote(0);
    assertThat(checkpoints.mayRead(0, 0)).isTrue();
    assertThat(checkpoints.mayRead(0, 1)).as("a page that only the second has").isFalse();
    assertThat(checkpoints.mayRead(1, 1)).isTrue();
    assertThat(checkpoints.mayRead(1, 2)).as("a page that none has").isFalse();
    first.wrote(0);
    assertThat(checkpoints.mayRead(0, 0)).isFalse();
    assertThat(checkpoints.mayRead(1, 0)).isTrue();
    checkpoints.end(8);
    assertThat(checkpoints.mayRead(1, 0)).isTrue();
    checkpoints.end(7);
    assertThat(checkpoints.mayRead(1, 0)).isFalse();
  }

  @Test
  void ofManyCheckpointsWhoseEndIsNotToldTheOldestAreTakenAsNeverWritten() {
    RunningCheckpoints checkpoints = new RunningCheckpoints();
    List<CheckpointProgress> all = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      checkpoints.begin(i, new int[] {1});
      all.add(checkpoints.last());
    }
    all.forEach(one -> one.wrote(0));
    assertThat(checkpoints.mayRead(0, 0)).isTrue();
    assertThat(checkpoints.mayRead(0, 10)).isTrue();
    assertThat(checkpoints.mayRead(0, 13)).as("a page that none of the oldest has").isFalse();
  }

  /** None, a few, so that most pages stay as they are, or so many that all change. */
  private static int some(SplittableRandom random) {
    int[] sizes = {0, 0, 1, 30, 300, KEYS / 12};
    return sizes[random.nextInt(sizes.length)];
  }

  private record Running(long checkpoint, Set<String> expected, OperatorSnapshotFutures futures) {}

  private static OperatorSubtaskState written(OperatorSnapshotFutures begun) throws Exception {
    return OperatorSnapshotFinalizer.create(begun).getJobManagerOwnedState();
  }

  /** Feeds random operations and checks each outcome against the live keys. */
  private void feed(Harness dedup, SplittableRandom random, Set<String> live, int operations)
      throws Exception {
    for (int i = 0; i < operations; i++) {
      String key = "key-" + random.nextInt(KEYS);
      Operation operation = random.nextInt(8) == 0 ? Operation.DELETE : Operation.ADD;
      nowMillis += MILLIS_AN_EVENT;
      dedup.processElement(change(operation, key), nowMillis);
      boolean expected = operation == Operation.ADD ? live.add(key) : live.remove(key);
      if (dedup.main().size() != (expected ? 1 : 0)) {
        throw new AssertionError(operation + " of " + key + " gave " + dedup.main());
      }
      dedup.getOutput().clear();
    }
  }

  private static void assertHolds(Backend backend, OperatorSubtaskState state, Set<String> live)
      throws Exception {
    assertHolds(backend, PARAMETERS, state, live);
  }

  private static void assertHolds(
      Backend backend, DedupParameters parameters, OperatorSubtaskState state, Set<String> live)
      throws Exception {
    try (Harness dedup = new Harness(backend, parameters, 1, 0)) {
      dedup.initializeState(state);
      dedup.open();
      for (int i = 0; i < KEYS; i++) {
        Change<String> add = change(Operation.ADD, "key-" + i);
        dedup.processElement(add, i);
        if (dedup.main().isEmpty() != live.contains(add.event())) {
          throw new AssertionError(add.event() + " gave " + dedup.main());
        }
        dedup.getOutput().clear();
      }
    }
  }
}
