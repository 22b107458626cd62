package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.operators.dedup.live.AuditedSet;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The audit against the exact model of the whole stream, with a filter that is far too small. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class AuditTest {
  private static final int SHARDS = 4;
  private static final int SLICES = 8;
  private static final KeyHash HASH = KeyHash.fixed();

  /** At 15,000 keys per shard the rate is 2 * 15,000 / 2^20, about 3 %. */
  private static final int KEYS = 80_000;

  private static DedupParameters parameters(int slices) {
    return new DedupParameters(
            CuckooShape.MIN_IDENTITY_BITS,
            SHARDS,
            "siphash-2-4",
            HASH.keyCheck(),
            "none",
            1,
            DedupMode.APPROXIMATE)
        .withAudit(slices);
  }

  /** The live keys of the stream, and what the filter made of those that were new. */
  private static final class Model {
    private final long seed;
    private final SplittableRandom random;
    private final Set<String> live = new HashSet<>();
    private long newKeys;
    private long dropped;
    private long auditedNewKeys;
    private long auditedDropped;

    Model(long seed) {
      this.seed = seed;
      random = new SplittableRandom(seed);
    }

    /** Adds, repeats, deletes, and deletes of what is not there. */
    void feed(DedupTasks tasks, int events) throws Exception {
      for (int i = 0; i < events; i++) {
        String key = seed + "-" + random.nextInt(KEYS);
        byte[] bytes = key.getBytes(UTF_8);
        Operation operation = random.nextInt(8) == 0 ? Operation.DELETE : Operation.ADD;
        Change<String> change = new Change<>(operation, bytes, HASH.hash(bytes), key);
        note(change, tasks.process(change));
      }
    }

    private void note(Change<String> change, Kind kind) {
      if (change.operation() == Operation.DELETE) {
        live.remove(change.event());
        return;
      }
      boolean isNew = live.add(change.event());
      boolean audited = AuditedSet.isAudited(change.hash(), SLICES);
      boolean drops = isNew && kind != Kind.ACCEPTED;
      assertThat(kind == Kind.FALSELY_DROPPED)
          .as("%s: %s", change, kind)
          .isEqualTo(drops && audited);
      newKeys += isNew ? 1 : 0;
      dropped += drops ? 1 : 0;
      auditedNewKeys += isNew && audited ? 1 : 0;
      auditedDropped += drops && audited ? 1 : 0;
    }

    void check(DedupTasks tasks) {
      assertThat(tasks.sum("auditedNewKeys")).isEqualTo(auditedNewKeys);
      assertThat(tasks.sum("auditedFalsePositives")).isEqualTo(auditedDropped);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void theIntervalCoversTheRateOfTheWholeStreamAndWhatWasPredicted(long seed) throws Exception {
    assertCovered(seed);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(longs = {3, 4})
  void soItDoesForMoreStreams(long seed) throws Exception {
    assertCovered(seed);
  }

  private static void assertCovered(long seed) throws Exception {
    Model model = new Model(seed);
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(SLICES), 1, null)) {
      model.feed(tasks, 200_000);
      TaskMetrics metrics = tasks.metrics();
      double low = metrics.gauge("measuredFalsePositiveRateLow").doubleValue();
      double measured = metrics.gauge("measuredFalsePositiveRate").doubleValue();
      double high = metrics.gauge("measuredFalsePositiveRateHigh").doubleValue();
      assertThat((double) model.dropped / model.newKeys).isBetween(low, high).isPositive();
      assertThat(measured)
          .isEqualTo((double) model.auditedDropped / model.auditedNewKeys)
          .isBetween(low, high);
      assertThat(high).as("narrow").isLessThan(2 * low);
      double predicted = metrics.gauge("auditedPredictedRate").doubleValue();
      assertThat(predicted).isBetween(low, high);
      // The filter was emptier before.
      assertThat(predicted).isLessThan(metrics.gauge("predictedFalsePositiveRate").doubleValue());
      assertThat(metrics.count("falselyDropped")).isEqualTo(model.auditedDropped);
    }
  }

  @ParameterizedTest
  @EnumSource
  void countsWhatTheModelCountsAcrossBackendsAndScales(Backend first) throws Exception {
    Model model = new Model(7);
    DedupTasks.State state = null;
    Backend backend = first;
    for (int parallelism : new int[] {1, 4, 2}) {
      try (DedupTasks tasks = new DedupTasks(backend, parameters(SLICES), parallelism, state)) {
        model.check(tasks);
        model.feed(tasks, 30_000);
        model.check(tasks);
        // The heap backend returns copies of values that a checkpoint includes.
        tasks.savepoint();
        model.feed(tasks, 30_000);
        model.check(tasks);
        state = tasks.savepoint();
      }
      backend = backend.other();
    }
    assertThat(model.auditedDropped).isGreaterThan(100);
  }

  @Test
  void stateDecidesWhetherAndWhatIsAudited() throws Exception {
    Model model = new Model(8);
    DedupTasks.State audited;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(SLICES), 1, null)) {
      model.feed(tasks, 20_000);
      audited = tasks.savepoint();
    }
    for (int asked : new int[] {0, 1}) {
      try (DedupTasks tasks = new DedupTasks(Backend.ROCKSDB, parameters(asked), 2, audited)) {
        model.check(tasks);
      }
    }
    DedupTasks.State unaudited;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(0), 1, null)) {
      unaudited = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(SLICES), 1, unaudited)) {
      assertThat(tasks.metrics().names()).doesNotContain("auditedNewKeys").contains("duplicates");
    }
  }

  @Test
  void aTaskThatAuditedNothingKnowsNothing() throws Exception {
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(SLICES), 1, null)) {
      TaskMetrics metrics = tasks.metrics();
      assertThat(metrics.gauge("measuredFalsePositiveRate").doubleValue()).isZero();
      assertThat(metrics.gauge("auditedPredictedRate").doubleValue()).isZero();
      assertThat(metrics.gauge("measuredFalsePositiveRateLow").doubleValue()).isZero();
      assertThat(metrics.gauge("measuredFalsePositiveRateHigh").doubleValue()).isEqualTo(1);
    }
  }

  /** Of keys that agree in all that the filter reads, and of keys of each shard and slice alike. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3, 8, 1000})
  void oneHashInSoManyIsAudited(int slices) {
    SplittableRandom random = new SplittableRandom(slices);
    int hashes = 2_000_000;
    int[] ofIdentities = new int[4];
    int[] ofShards = new int[SHARDS];
    for (int i = 0; i < hashes; i++) {
      int shard = i % SHARDS;
      long oneIdentity = 0x123456789ABCDEF0L << 20 | random.nextInt(1 << 20);
      ofIdentities[shard] += AuditedSet.isAudited(oneIdentity, slices) ? 1 : 0;
      long ofShard = random.nextLong() >>> 2 | (long) shard << 62;
      assertThat(new Shards(SHARDS).shardOf(ofShard)).isEqualTo(shard);
      ofShards[shard] += AuditedSet.isAudited(ofShard, slices) ? 1 : 0;
    }
    double expected = (double) hashes / SHARDS / slices;
    double sixDeviations = 6 * Math.sqrt(expected) + 1e-9;
    for (int shard = 0; shard < SHARDS; shard++) {
      assertThat((double) ofShards[shard]).isCloseTo(expected, within(sixDeviations));
      assertThat((double) ofIdentities[shard]).isCloseTo(expected, within(sixDeviations));
    }
  }
}
