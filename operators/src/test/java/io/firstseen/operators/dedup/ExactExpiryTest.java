package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Shards;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.operators.dedup.live.AuditedSet;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import io.firstseen.types.TimeToLive.Since;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Exact modes and audits with a ttl: keys go at the very event that the rule says. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class ExactExpiryTest {
  private static final long EPOCH = 450_000;
  private static final TimeToLive TTL = TimeToLive.of(Duration.ofMillis(8 * EPOCH));

  /** Crowds of keys of one identity, and lone ones. */
  private static final int KEYS = 3_000;

  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);

  private static long phase(Change<?> change, int shards) {
    return TTL.phaseMillis(new Shards(shards).shardOf(change.hash()), shards);
  }

  /** The ends of the live keys' epochs. */
  private static final class Model {
    private final SplittableRandom random = new SplittableRandom(31);
    private final Map<Object, Long> ends = new HashMap<>();
    private final boolean byKey;
    private final boolean sinceLastSeen;
    private final int shards;
    private long now = 1_000 * EPOCH;
    private long newAgain;
    private long newKeysOfTheSlice;
    private int auditSlices;

    Model(DedupParameters parameters) {
      byKey = parameters.mode() == DedupMode.EXACT_KEYS;
      shards = parameters.shardCount();
      sinceLastSeen = parameters.ttl().since() == Since.LAST_SEEN;
    }

    void step(DedupTasks tasks) throws Exception {
      step(tasks, 0);
    }

    /** With keys that share no identity, where identities are long. */
    void stepOfLoneKeys(DedupTasks tasks) throws Exception {
      step(tasks, 1_000_000);
    }

    private void step(DedupTasks tasks, int firstKey) throws Exception {
      int choice = random.nextInt(100);
      if (choice >= 92) {
        now += random.nextInt(400) == 0 ? 24 * EPOCH : random.nextLong(EPOCH / 4);
        tasks.watermark(now - 1);
        return;
      }
      Change<String> change =
          ExactModeTest.change(
              choice < 70 ? Operation.ADD : Operation.DELETE, firstKey + random.nextInt(KEYS));
      long timestamp = now + (long) ((2 * random.nextDouble() - 1) * EPOCH);
      Kind kind = tasks.process(change, timestamp);
      Kind expected = apply(change, timestamp);
      if (kind != expected) {
        throw new AssertionError(change + " at " + now + " is " + kind + " and not " + expected);
      }
    }

    /** The beginning of the epoch, which is another for each shard. */
    private long epochOf(Change<?> change, long millis) {
      return millis - Math.floorMod(millis - phase(change, shards), EPOCH);
    }

    private Kind apply(Change<String> change, long timestamp) {
      Object key = byKey ? change.event() : (Object) change.hash();
      Long known = ends.get(key);
      long epochOfNow = epochOf(change, now);
      boolean lives = known != null && known > epochOfNow - 8 * EPOCH;
      if (change.operation() == Operation.DELETE) {
        ends.remove(key);
        return lives ? Kind.REMOVED : Kind.UNKNOWN_DELETE;
      }
      long end = Math.max(epochOf(change, timestamp), epochOfNow) + EPOCH;
      if (!lives) {
        newAgain += known == null ? 0 : 1;
        newKeysOfTheSlice +=
            auditSlices > 0 && AuditedSet.isAudited(change.hash(), auditSlices) ? 1 : 0;
        ends.put(key, end);
        return Kind.ACCEPTED;
      }
      if (sinceLastSeen) {
        ends.put(key, Math.max(known, end));
      }
      return Kind.DUPLICATE;
    }
  }

  @ParameterizedTest
  @CsvSource({"HEAP, EXACT, FIRST_SEEN", "ROCKSDB, EXACT_KEYS, LAST_SEEN"})
  void anExactModeEqualsTheModelAcrossBackendsAndScales(Backend first, DedupMode mode, Since since)
      throws Exception {
    assertEqualsTheModel(first, mode, since);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"ROCKSDB, EXACT, LAST_SEEN", "HEAP, EXACT_KEYS, FIRST_SEEN"})
  void soItDoesTheOtherWayRound(Backend first, DedupMode mode, Since since) throws Exception {
    assertEqualsTheModel(first, mode, since);
  }

  private static void assertEqualsTheModel(Backend first, DedupMode mode, Since since)
      throws Exception {
    DedupParameters parameters = ExactModeTest.parameters(mode).withTtl(TTL.since(since));
    Model model = new Model(parameters);
    DedupTasks.State state = null;
    Backend backend = first;
    for (int parallelism : new int[] {1, 4, 2, 1}) {
      try (DedupTasks tasks = new DedupTasks(backend, parameters, parallelism, state)) {
        for (int i = 0; i < 3_000 * SCALE; i++) {
          model.step(tasks);
        }
        state = tasks.savepoint();
      }
      backend = backend.other();
    }
    assertThat(model.newAgain).as("keys that came again after their time").isGreaterThan(500);
  }

  /** More keys than copies: none is lost when the copies of the first ones go. */
  @ParameterizedTest
  @EnumSource
  void theYoungestKeyOfACrowdOutlivesTheOthers(Backend backend) throws Exception {
    DedupParameters parameters = ExactModeTest.parameters(DedupMode.EXACT_KEYS).withTtl(TTL);
    try (DedupTasks tasks = new DedupTasks(backend, parameters, 1, null)) {
      Change<?> any = ExactModeTest.change(Operation.ADD, 0);
      long start = 1_000 * EPOCH + phase(any, parameters.shardCount());
      for (int number = 0; number < ExactModeTest.KEYS_OF_A_CROWD; number++) {
        long now = start + number * EPOCH / 4;
        tasks.watermark(now - 1);
        assertThat(tasks.process(ExactModeTest.change(Operation.ADD, number), now))
            .isEqualTo(Kind.ACCEPTED);
      }
      // The first four epochs, which are the epochs of the first 16 keys, were removed.
      tasks.watermark(start + 12 * EPOCH);
      for (int number = ExactModeTest.KEYS_OF_A_CROWD - 1; number >= 0; number--) {
        assertThat(tasks.process(ExactModeTest.change(Operation.ADD, number), start + 12 * EPOCH))
            .as("key %d", number)
            .isEqualTo(number < 16 ? Kind.ACCEPTED : Kind.DUPLICATE);
      }
    }
  }

  /** The filter has forgotten a key whose entry is still there when the ttl changes. */
  @ParameterizedTest
  @CsvSource({"HEAP, 16", "ROCKSDB, 16", "HEAP, 7", "ROCKSDB, 9"})
  void whatWasForgottenStaysForgottenUnderAnotherTtl(Backend backend, int epochs) throws Exception {
    DedupParameters before = ExactModeTest.parameters(DedupMode.EXACT_KEYS).withTtl(TTL);
    DedupParameters after = before.withTtl(TimeToLive.of(Duration.ofMillis(epochs * EPOCH + 80)));
    Change<?> any = ExactModeTest.change(Operation.ADD, 0);
    long start = 1_000 * EPOCH + phase(any, before.shardCount());
    // The two share a fingerprint.
    int old = 2;
    int young = 0;
    DedupTasks.State state;
    try (DedupTasks tasks = new DedupTasks(backend, before, 1, null)) {
      tasks.watermark(start - 1);
      assertThat(tasks.process(ExactModeTest.change(Operation.ADD, old), start))
          .isEqualTo(Kind.ACCEPTED);
      tasks.watermark(start + 9 * EPOCH - 1);
      assertThat(tasks.process(ExactModeTest.change(Operation.ADD, young), start + 9 * EPOCH))
          .isEqualTo(Kind.ACCEPTED);
      state = tasks.savepoint();
      assertThat(tasks.exactEntries()).as("entries before the sweep").isEqualTo(2);
    }
    // A restart before any sweep must also restore it.
    try (DedupTasks tasks = new DedupTasks(backend, after, 2, state)) {
      state = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(backend, after, 1, state)) {
      assertThat(tasks.process(ExactModeTest.change(Operation.DELETE, old), start + 9 * EPOCH))
          .isEqualTo(Kind.UNKNOWN_DELETE);
      assertThat(tasks.process(ExactModeTest.change(Operation.ADD, young), start + 9 * EPOCH))
          .isEqualTo(Kind.DUPLICATE);
    }
  }

  @ParameterizedTest
  @CsvSource({"HEAP, false", "ROCKSDB, false", "HEAP, true", "ROCKSDB, true"})
  void theSweepRemovesEntriesThatNobodyAsksFor(Backend backend, boolean audit) throws Exception {
    DedupParameters exact = ExactModeTest.parameters(DedupMode.EXACT).withTtl(TTL);
    DedupParameters audited =
        ExactModeTest.parameters(DedupMode.APPROXIMATE).withTtl(TTL).withAudit(1);
    String name = audit ? "firstseen-audit" : "firstseen-exact";
    long start = 1_000 * EPOCH;
    try (DedupTasks tasks = new DedupTasks(backend, audit ? audited : exact, 2, null)) {
      tasks.watermark(start);
      for (int number = 0; number < KEYS; number++) {
        // Half of them live longer.
        long time = number % 2 == 0 ? start : start + 4 * EPOCH;
        tasks.process(ExactModeTest.change(Operation.ADD, 1_000_000 + number), time);
      }
      // Pending entries are written.
      tasks.savepoint();
      long before = tasks.namespaces(name);
      assertThat(before).isGreaterThan(1_000);
      // Time goes by, and a round after the keys' last epochs.
      for (long now = start; now < start + 23 * EPOCH / 2; now += EPOCH / 200) {
        tasks.watermark(now);
      }
      assertThat(tasks.namespaces(name)).isBetween(before / 4, before * 9 / 10);
      for (long now = start + 23 * EPOCH / 2; now < start + 16 * EPOCH; now += EPOCH / 200) {
        tasks.watermark(now);
      }
      assertThat(tasks.namespaces(name)).isZero();
    }
  }

  @Test
  void theSweepGoesOnHoweverOftenTheTaskIsRestarted() throws Exception {
    DedupParameters parameters = ExactModeTest.parameters(DedupMode.EXACT).withTtl(TTL);
    long start = 1_000 * EPOCH;
    DedupTasks.State state;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      tasks.watermark(start);
      for (int number = 0; number < KEYS; number++) {
        tasks.process(ExactModeTest.change(Operation.ADD, 1_000_000 + number), start);
      }
      state = tasks.savepoint();
    }
    // A quarter of a round for each start, one round in all.
    long left = KEYS;
    for (long from = start + 10 * EPOCH; from < start + 11 * EPOCH; from += EPOCH / 4) {
      try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, state)) {
        for (long now = from; now < from + EPOCH / 4; now += EPOCH / 200) {
          tasks.watermark(now);
        }
        state = tasks.savepoint();
        assertThat(tasks.exactEntries()).as("entries at %d", from).isLessThan(left);
        left = tasks.exactEntries();
      }
    }
    assertThat(left).isZero();
  }

  /** A filter that takes no key for another: whatever the audit found would be its own mistake. */
  @ParameterizedTest
  @CsvSource({"HEAP, FIRST_SEEN", "ROCKSDB, LAST_SEEN"})
  void theAuditForgetsWithTheFilter(Backend backend, Since since) throws Exception {
    DedupParameters parameters = ExpiryModel.parameters(TTL.since(since)).withAudit(2);
    Model model = new Model(parameters);
    model.auditSlices = 2;
    DedupTasks.State state = null;
    for (int parallelism : new int[] {1, 4}) {
      try (DedupTasks tasks = new DedupTasks(backend, parameters, parallelism, state)) {
        for (int i = 0; i < 6_000 * SCALE; i++) {
          model.stepOfLoneKeys(tasks);
        }
        assertThat(tasks.sum("auditedFalsePositives")).isZero();
        assertThat(tasks.sum("auditedNewKeys")).isEqualTo(model.newKeysOfTheSlice);
        state = tasks.savepoint();
      }
    }
    assertThat(model.newAgain).isGreaterThan(1_000);
  }

  /** A delete of a key that was dropped takes the fingerprint of the one that was not. */
  @ParameterizedTest
  @EnumSource
  void aKeyThatTheFilterStoresAgainIsNewInTheAudit(Backend backend) throws Exception {
    DedupParameters parameters =
        ExactModeTest.parameters(DedupMode.APPROXIMATE).withTtl(TTL).withAudit(1);
    Change<String> add = ExactModeTest.change(Operation.ADD, 0);
    try (DedupTasks tasks = new DedupTasks(backend, parameters, 1, null)) {
      long start = 1_000 * EPOCH + phase(add, parameters.shardCount());
      tasks.watermark(start - 1);
      assertThat(tasks.process(add, start)).isEqualTo(Kind.ACCEPTED);
      assertThat(tasks.process(ExactModeTest.change(Operation.ADD, 2), start))
          .isEqualTo(Kind.FALSELY_DROPPED);
      assertThat(tasks.process(ExactModeTest.change(Operation.DELETE, 2), start))
          .isEqualTo(Kind.REMOVED);
      tasks.watermark(start + 4 * EPOCH - 1);
      assertThat(tasks.process(add, start + 4 * EPOCH)).isEqualTo(Kind.ACCEPTED);
      tasks.watermark(start + 10 * EPOCH - 1);
      assertThat(tasks.process(add, start + 10 * EPOCH)).isEqualTo(Kind.DUPLICATE);
    }
  }

  /** A backfill: many keys come in a ttl, and the clock moves seldom. */
  @ParameterizedTest
  @EnumSource
  void stateHoldsLittleMoreThanTheLivingHoweverFastTheyCome(Backend backend) throws Exception {
    DedupParameters parameters = ExactModeTest.parameters(DedupMode.EXACT).withTtl(TTL);
    int keysOfAnEpoch = 1_000;
    try (DedupTasks tasks = new DedupTasks(backend, parameters, 1, null)) {
      int number = 1_000_000;
      for (long now = 1_000 * EPOCH; now < 1_060 * EPOCH; now += EPOCH) {
        tasks.watermark(now - 1);
        for (int i = 0; i < keysOfAnEpoch; i++) {
          tasks.process(ExactModeTest.change(Operation.ADD, number++), now);
        }
      }
      // Pending entries are written.
      tasks.savepoint();
      int living = 9 * keysOfAnEpoch;
      assertThat(tasks.exactEntries()).isBetween(living * 8L / 9, living * 3L / 2);
    }
  }
}
