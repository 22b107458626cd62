package io.firstseen.operators.dedup;

import static io.firstseen.operators.dedup.ExpiryModel.change;
import static io.firstseen.operators.dedup.ExpiryModel.parameters;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.DedupTasks.State;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.operators.dedup.live.PageSweep;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import io.firstseen.types.TimeToLive.Clock;
import io.firstseen.types.TimeToLive.Since;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class ExpiryTest {
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final long HOUR = 3_600_000;
  private static final long EPOCH = 450_000;
  private static final TimeToLive TTL = TimeToLive.of(Duration.ofHours(1));

  @ParameterizedTest
  @CsvSource({
    "ROCKSDB, EVENT, FIRST_SEEN, false",
    "HEAP, PROCESSING, LAST_SEEN, false",
    "HEAP, EVENT, LAST_SEEN, true",
    "ROCKSDB, PROCESSING, FIRST_SEEN, true"
  })
  void noKeyGoesEarlyAndNoneStaysPastItsBoundOverRestoresAndScales(
      Backend first, Clock clock, Since since, boolean changingTtl) throws Exception {
    assertBounds(first, clock, since, changingTtl);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({
    "HEAP, EVENT, FIRST_SEEN, false",
    "ROCKSDB, EVENT, LAST_SEEN, false",
    "ROCKSDB, PROCESSING, FIRST_SEEN, false",
    "HEAP, PROCESSING, FIRST_SEEN, true"
  })
  void norInOtherWays(Backend first, Clock clock, Since since, boolean changingTtl)
      throws Exception {
    assertBounds(first, clock, since, changingTtl);
  }

  private static void assertBounds(Backend first, Clock clock, Since since, boolean changingTtl)
      throws Exception {
    ExpiryModel model = new ExpiryModel(TTL.by(clock).since(since), 8_000, 0, 11);
    model.run(first, 8, SCALE > 1 ? 8_000 : 1_500, changingTtl);
    assertThat(model.forgotten()).isGreaterThan(100);
  }

  /** The controls: a ttl that is an epoch off, either way, is found out by the same model. */
  @ParameterizedTest
  @CsvSource({
    "EVENT, -450000, no live key is forgotten|a delete of a live key removes it",
    "EVENT, 450000, no key is kept past its bound|a delete of a forgotten key is unknown",
    "PROCESSING, -450000, no live key is forgotten|a delete of a live key removes it",
    "PROCESSING, 450000, no key is kept past its bound|a delete of a forgotten key is unknown"
  })
  void aTtlThatIsOffDoes(Clock clock, long mistakeMillis, String broken) {
    ExpiryModel model = new ExpiryModel(TTL.by(clock), 500, mistakeMillis, 11);
    assertThatThrownBy(() -> model.run(Backend.HEAP, 4, 20_000, false))
        .isInstanceOf(AssertionError.class)
        .hasMessageMatching("broken at event \\d+ of seed 11: (" + broken + ")");
  }

  /** Also before the first watermark that comes after it. */
  @ParameterizedTest
  @EnumSource
  void aReplayDecidesAsTheFirstTime(Backend backend) throws Exception {
    State state;
    List<Kind> first = new ArrayList<>();
    try (DedupTasks tasks = new DedupTasks(backend, parameters(TTL), 2, null)) {
      for (int i = 0; i < 4_000; i++) {
        tasks.process(change(Operation.ADD, "key-" + i), HOUR + i * 1_000L);
      }
      // All keys of the first epochs are due, none has been asked for.
      tasks.watermark(2 * HOUR + 2_000_000);
      state = tasks.savepoint();
      replay(tasks, first);
      assertThat(first).contains(Kind.ACCEPTED, Kind.DUPLICATE);
    }
    for (int parallelism : new int[] {1, 2, 4}) {
      List<Kind> again = new ArrayList<>();
      try (DedupTasks tasks =
          new DedupTasks(backend.other(), parameters(TTL), parallelism, state)) {
        replay(tasks, again);
      }
      assertThat(again).isEqualTo(first);
    }
  }

  private static void replay(DedupTasks tasks, List<Kind> kinds) throws Exception {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 3_000; i++) {
      if (i == 1_500) {
        tasks.watermark(3 * HOUR);
      }
      kinds.add(tasks.process(change(Operation.ADD, "key-" + random.nextInt(4_000)), 2 * HOUR + i));
    }
  }

  @ParameterizedTest
  @CsvSource({"HEAP, EVENT", "ROCKSDB, EVENT", "HEAP, PROCESSING", "ROCKSDB, PROCESSING"})
  void theSweepReturnsTheMemoryOfKeysThatNobodyAsksFor(Backend backend, Clock clock)
      throws Exception {
    int keys = 20_000;
    try (DedupTasks tasks = new DedupTasks(backend, parameters(TTL.by(clock)), 2, null)) {
      set(tasks, clock, HOUR);
      for (int i = 0; i < keys; i++) {
        assertThat(tasks.process(change(Operation.ADD, "key-" + i), HOUR)).isEqualTo(Kind.ACCEPTED);
      }
      assertThat(tasks.sum("pageBytes")).isPositive();
      long pages = tasks.sum("pages");
      assertThat(pages).isGreaterThan(ExpiryModel.SHARDS);
      assertThat(tasks.sum("keys")).isEqualTo(keys);
      long step = 2_000;
      long swept = 0;
      for (long now = HOUR; now < 2 * HOUR; now += step) {
        set(tasks, clock, now);
      }
      assertThat(tasks.sum("expired")).as("expired before they were due").isZero();
      for (long now = 2 * HOUR; now <= 2 * HOUR + 2 * EPOCH; now += step) {
        set(tasks, clock, now);
        long expired = tasks.sum("expired");
        assertThat(expired - swept).as("at once").isLessThan(keys / 2);
        swept = expired;
      }
      assertThat(tasks.sum("expired")).isEqualTo(keys);
      assertThat(tasks.sum("keys")).isZero();
      for (long now = 2 * HOUR + 2 * EPOCH; now <= 2 * HOUR + 3 * EPOCH; now += step) {
        set(tasks, clock, now);
      }
      assertThat(tasks.sum("pageBytes")).isZero();
      assertThat(tasks.sum("pages")).isEqualTo(ExpiryModel.SHARDS);
      if (clock == Clock.EVENT) {
        // No event waits for others any more.
        tasks.processingTime(EventBatch.MAX_MILLIS);
      }
      assertThat(tasks.timers())
          .as("timers, for all keys and shards")
          .isEqualTo(clock == Clock.EVENT ? 0 : 2);
    }
  }

  private static void set(DedupTasks tasks, Clock clock, long now) throws Exception {
    if (clock == Clock.EVENT) {
      tasks.watermark(now);
    } else {
      tasks.processingTime(now);
    }
  }

  @Test
  void aJumpOfTheClockIsSweptStepByStepButForgetsAtOnce() throws Exception {
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(TTL), 1, null)) {
      for (int i = 0; i < 250_000; i++) {
        tasks.process(change(Operation.ADD, "key-" + i), HOUR);
      }
      tasks.watermark(HOUR);
      assertThat(tasks.sum("pages")).isGreaterThan(PageSweep.MAX_PAGES);
      tasks.watermark(1_000 * HOUR);
      assertThat(tasks.sum("expired"))
          .isPositive()
          .isLessThanOrEqualTo(PageSweep.MAX_PAGES * 4_096L)
          .isLessThan(200_000);
      assertThat(tasks.process(change(Operation.ADD, "key-77"), 1_000 * HOUR))
          .isEqualTo(Kind.ACCEPTED);
      for (int i = 0; i < 20; i++) {
        tasks.watermark(1_000 * HOUR + i);
      }
      assertThat(tasks.sum("keys")).isOne();
    }
  }

  @Test
  void theSweepGoesOnHoweverOftenTheTaskIsRestarted() throws Exception {
    int live = 1_000;
    State state;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(TTL), 1, null)) {
      for (int i = 0; i < 250_000; i++) {
        tasks.process(change(Operation.ADD, "key-" + i), HOUR);
      }
      tasks.watermark(HOUR);
      // Shards without keys are skipped, so every shard gets a few live keys.
      for (int i = 0; i < live; i++) {
        tasks.process(change(Operation.ADD, "live-" + i), 2 * HOUR - EPOCH);
      }
      state = tasks.savepoint();
    }
    // A quarter of a round for each start, one round in all.
    long start = 2 * HOUR + 2 * EPOCH;
    long left = 250_000 + live;
    for (long from = start; from < start + EPOCH; from += EPOCH / 4) {
      try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(TTL), 1, state)) {
        for (long now = from; now < from + EPOCH / 4; now += EPOCH / 200) {
          tasks.watermark(now);
        }
        state = tasks.savepoint();
        assertThat(tasks.sum("keys")).as("keys at %d", from).isLessThan(left);
        left = tasks.sum("keys");
      }
    }
    assertThat(left).isEqualTo(live);
  }

  @ParameterizedTest
  @EnumSource
  void theWatermarkThatEndsAllInputForgetsNothing(Backend backend) throws Exception {
    State state;
    try (DedupTasks tasks = new DedupTasks(backend, parameters(TTL), 1, null)) {
      tasks.process(change(Operation.ADD, "a"), HOUR);
      tasks.watermark(HOUR);
      tasks.watermark(Long.MAX_VALUE);
      assertThat(tasks.sum("keys")).isOne();
      state = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(backend, parameters(TTL), 1, state)) {
      assertThat(tasks.process(change(Operation.ADD, "a"), HOUR + 1)).isEqualTo(Kind.DUPLICATE);
      tasks.watermark(2 * HOUR + EPOCH);
      assertThat(tasks.process(change(Operation.ADD, "a"), HOUR + 1)).isEqualTo(Kind.ACCEPTED);
    }
  }

  /** An event that comes late counts as of the watermark: it is not new again each time. */
  @Test
  void aLateKeyIsKeptForItsTtlFromTheWatermarkOn() throws Exception {
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(TTL), 1, null)) {
      tasks.watermark(100 * HOUR);
      assertThat(tasks.process(change(Operation.ADD, "late"), HOUR)).isEqualTo(Kind.ACCEPTED);
      assertThat(tasks.process(change(Operation.ADD, "late"), HOUR)).isEqualTo(Kind.DUPLICATE);
      tasks.watermark(101 * HOUR - 1);
      assertThat(tasks.process(change(Operation.ADD, "late"), HOUR)).isEqualTo(Kind.DUPLICATE);
      tasks.watermark(101 * HOUR + EPOCH);
      assertThat(tasks.process(change(Operation.ADD, "late"), HOUR)).isEqualTo(Kind.ACCEPTED);
    }
  }

  @Test
  void aMachinesClockThatGoesBackForgetsNothingAndStandsStill() throws Exception {
    TimeToLive ttl = TTL.by(Clock.PROCESSING);
    State state;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(ttl), 1, null)) {
      tasks.processingTime(10 * HOUR);
      tasks.process(change(Operation.ADD, "a"), 0);
      state = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(ttl), 1, state)) {
      tasks.processingTime(HOUR);
      assertThat(tasks.process(change(Operation.ADD, "a"), 0)).isEqualTo(Kind.DUPLICATE);
      assertThat(tasks.process(change(Operation.ADD, "b"), 0)).isEqualTo(Kind.ACCEPTED);
      tasks.processingTime(11 * HOUR - 1);
      assertThat(tasks.process(change(Operation.ADD, "b"), 0)).isEqualTo(Kind.DUPLICATE);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "             |              | ttl (state: on, job: off)",
        "PROCESSING   |              | ttl clock (state: event, job: processing)",
        "             | LAST_SEEN    | ttl since (state: first-seen, job: last-seen)",
        "PROCESSING   | LAST_SEEN    | ttl clock (state: event, job: processing), ttl since"
            + " (state: first-seen, job: last-seen)"
      })
  void anotherClockOrSinceOrNoTtlIsRefused(Clock clock, Since since, String named)
      throws Exception {
    State state = stateOf(TTL);
    TimeToLive other =
        clock == null && since == null
            ? null
            : TTL.by(clock == null ? Clock.EVENT : clock)
                .since(since == null ? Since.FIRST_SEEN : since);
    assertThatThrownBy(() -> new DedupTasks(Backend.HEAP, parameters(other), 1, state).close())
        .isInstanceOf(IncompatibleStateException.class)
        .hasMessage("The dedup state cannot be restored by this job, they differ in: " + named);
  }

  @Test
  void aTtlOverStateWithoutOneIsRefused() throws Exception {
    State state = stateOf(null);
    assertThatThrownBy(() -> new DedupTasks(Backend.HEAP, parameters(TTL), 1, state).close())
        .hasStackTraceContaining("they differ in: ttl (state: off, job: on)");
  }

  private static State stateOf(TimeToLive ttl) throws Exception {
    try (DedupTasks tasks = new DedupTasks(Backend.ROCKSDB, parameters(ttl), 1, null)) {
      tasks.process(change(Operation.ADD, "a"), HOUR);
      return tasks.savepoint();
    }
  }

  @Test
  void anEventWithoutATimestampFailsTheJob() throws Exception {
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(TTL), 1, null)) {
      assertThatThrownBy(() -> tasks.processWithoutTimestamp(change(Operation.ADD, "a")))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("needs timestamps");
    }
  }
}
