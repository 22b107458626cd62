package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.cuckoo.CuckooPage;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** An exact mode against sets: no difference at all, however many keys share an identity. */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class ExactModeTest {
  private static final int EVENTS = Integer.getInteger("firstseen.scale", 1) > 1 ? 12_000 : 1_500;
  private static final int SHARDS = 8;
  private static final int SHARD_BITS = 3;
  private static final KeyHash HASH = KeyHash.fixed();

  /** Two keys a hash, and more hashes than there are ever copies of an identity. */
  static final int KEYS_OF_A_CROWD = 2 * (CuckooPage.MAX_COPIES + 2);

  private static final int CROWDS = 100;

  /** Random keys with distinct hashes, but not always distinct identities. */
  private static final int LONE_KEYS = 20_000;

  static DedupParameters parameters(DedupMode mode) {
    return new DedupParameters(
        CuckooShape.MIN_IDENTITY_BITS, SHARDS, "siphash-2-4", HASH.keyCheck(), "none", 1, mode);
  }

  /**
   * The n-th key, of a crowd that shares an identity, two and two also a hash; or a lone one. In
   * mode {@link DedupMode#EXACT} the two of one hash are one key under two names.
   */
  static Change<String> change(Operation operation, int number) {
    String key = "key-" + number;
    byte[] bytes = key.getBytes(UTF_8);
    int crowd = number / KEYS_OF_A_CROWD;
    if (crowd >= CROWDS) {
      return new Change<>(operation, bytes, HASH.hash(bytes), key);
    }
    long shardAndIdentity =
        HASH.hash(("crowd-" + crowd).getBytes(UTF_8))
            >>> (Long.SIZE - SHARD_BITS - CuckooShape.MIN_IDENTITY_BITS);
    long below = number % KEYS_OF_A_CROWD / 2;
    return new Change<>(
        operation,
        bytes,
        shardAndIdentity << (Long.SIZE - SHARD_BITS - CuckooShape.MIN_IDENTITY_BITS) | below,
        key);
  }

  /** Sets of live keys, and what must become of a change. */
  private static final class Model {
    private final boolean byKey;
    private final Set<Object> live = new HashSet<>();
    private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);

    Model(DedupMode mode) {
      byKey = mode == DedupMode.EXACT_KEYS;
    }

    Kind apply(Change<String> change) {
      Object identified = byKey ? change.event() : (Object) change.hash();
      Kind kind =
          change.operation() == Operation.ADD
              ? live.add(identified) ? Kind.ACCEPTED : Kind.DUPLICATE
              : live.remove(identified) ? Kind.REMOVED : Kind.UNKNOWN_DELETE;
      counts.merge(kind, 1, Integer::sum);
      return kind;
    }
  }

  @ParameterizedTest
  @CsvSource({"HEAP, EXACT", "ROCKSDB, EXACT", "HEAP, EXACT_KEYS", "ROCKSDB, EXACT_KEYS"})
  void equalsTheModelAcrossBackendsAndScales(Backend first, DedupMode mode) throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    Model model = new Model(mode);
    DedupTasks.State state = null;
    Backend backend = first;
    long rescues = 0;
    for (int parallelism : new int[] {1, 4, 2, 8, 1}) {
      try (DedupTasks tasks = new DedupTasks(backend, parameters(mode), parallelism, state)) {
        feed(tasks, model, random, EVENTS);
        // The heap backend returns copies of values that a checkpoint includes.
        tasks.savepoint();
        feed(tasks, model, random, EVENTS);
        state = tasks.savepoint();
        rescues += tasks.sum("exactRescues");
        if (backend == Backend.ROCKSDB) {
          // Deletes and rescues ask for a page several times.
          assertThat(tasks.sum("cacheHits") + tasks.sum("cacheMisses"))
              .as("a page looked for each event")
              .isEqualTo(2 * EVENTS);
        }
      }
      backend = backend.other();
    }
    assertThat(model.counts.values()).hasSize(4).allMatch(count -> count > EVENTS * 5 / 12);
    assertThat(rescues)
        .as("keys that the filter alone would have dropped")
        .isGreaterThan(EVENTS * 5 / 12);
  }

  private static void feed(DedupTasks tasks, Model model, SplittableRandom random, int events)
      throws Exception {
    for (int i = 0; i < events; i++) {
      int number =
          random.nextInt(3) == 0
              ? random.nextInt(CROWDS * KEYS_OF_A_CROWD)
              : CROWDS * KEYS_OF_A_CROWD + random.nextInt(LONE_KEYS);
      Change<String> change =
          change(random.nextInt(3) == 0 ? Operation.DELETE : Operation.ADD, number);
      Kind kind = tasks.process(change);
      assertThat(kind).as("event %d, %s", i, change).isEqualTo(model.apply(change));
    }
  }

  /** Short stories of one crowd: jqwik cuts one that fails down to what it takes. */
  @Property(tries = 60, seed = "5")
  void equalsTheModelOnKeysOfOneIdentity(
      @ForAll DedupMode anyMode, @ForAll("stories") List<Integer> story) throws Exception {
    DedupMode mode = anyMode.isExact() ? anyMode : DedupMode.EXACT;
    Model model = new Model(mode);
    DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(mode), 1, null);
    try {
      for (int step : story) {
        if (step == 0) {
          DedupTasks.State state = tasks.savepoint();
          tasks.close();
          tasks = new DedupTasks(Backend.HEAP, parameters(mode), 2, state);
          continue;
        }
        Change<String> change =
            change(step > 0 ? Operation.ADD : Operation.DELETE, Math.abs(step) - 1);
        assertThat(tasks.process(change)).as("%s", change).isEqualTo(model.apply(change));
      }
    } finally {
      tasks.close();
    }
  }

  /** Adds of a key, its deletes (negative), and savepoints (0). */
  @Provide
  Arbitrary<List<Integer>> stories() {
    return Arbitraries.integers()
        .between(-KEYS_OF_A_CROWD, KEYS_OF_A_CROWD)
        .list()
        .ofMinSize(1)
        .ofMaxSize(120);
  }

  @ParameterizedTest
  @EnumSource
  void fewKeysOfOneIdentityLeaveNothingBehind(Backend backend) throws Exception {
    try (DedupTasks tasks = new DedupTasks(backend, parameters(DedupMode.EXACT_KEYS), 1, null)) {
      List<Integer> keys = numbers(CuckooPage.MAX_COPIES - 1);
      process(tasks, Operation.ADD, keys, Kind.ACCEPTED);
      assertThat(tasks.sum("keys")).isEqualTo(keys.size());
      for (int number : keys) {
        process(tasks, Operation.DELETE, List.of(number), Kind.REMOVED);
        process(tasks, Operation.DELETE, List.of(number), Kind.UNKNOWN_DELETE);
        process(
            tasks,
            Operation.ADD,
            keys.subList(keys.indexOf(number) + 1, keys.size()),
            Kind.DUPLICATE);
      }
      assertThat(tasks.sum("keys")).isZero();
      long lookups = tasks.sum("exactLookups");
      process(tasks, Operation.DELETE, keys, Kind.UNKNOWN_DELETE);
      assertThat(tasks.sum("exactLookups")).as("state is not asked").isEqualTo(lookups);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anIdentityOfManyKeysStaysAndOnlyCostsLookUps(Backend backend) throws Exception {
    try (DedupTasks tasks = new DedupTasks(backend, parameters(DedupMode.EXACT_KEYS), 1, null)) {
      List<Integer> keys = numbers(KEYS_OF_A_CROWD);
      process(tasks, Operation.ADD, keys, Kind.ACCEPTED);
      assertThat(tasks.sum("keys")).isEqualTo(CuckooPage.MAX_COPIES);
      process(tasks, Operation.DELETE, keys, Kind.REMOVED);
      assertThat(tasks.sum("keys")).isEqualTo(CuckooPage.MAX_COPIES);
      process(tasks, Operation.DELETE, keys, Kind.UNKNOWN_DELETE);
      assertThat(tasks.sum("exactLookups")).isEqualTo(3L * keys.size() - 1);
      process(tasks, Operation.ADD, keys, Kind.ACCEPTED);
      process(tasks, Operation.ADD, keys, Kind.DUPLICATE);
      assertThat(tasks.sum("keys")).isEqualTo(CuckooPage.MAX_COPIES);
    }
  }

  @ParameterizedTest
  @EnumSource
  void keysOfOneHashAreOneKeyUnlessTheKeysAreKept(Backend backend) throws Exception {
    try (DedupTasks tasks = new DedupTasks(backend, parameters(DedupMode.EXACT), 1, null)) {
      process(tasks, Operation.ADD, List.of(0), Kind.ACCEPTED);
      process(tasks, Operation.ADD, List.of(1), Kind.DUPLICATE);
      process(tasks, Operation.ADD, List.of(2), Kind.ACCEPTED);
    }
    try (DedupTasks tasks = new DedupTasks(backend, parameters(DedupMode.EXACT_KEYS), 1, null)) {
      process(tasks, Operation.ADD, List.of(0, 1, 2), Kind.ACCEPTED);
    }
  }

  /** As a source that uses its arrays again. */
  @ParameterizedTest
  @EnumSource
  void theEventsArrayIsNotKept(Backend backend) throws Exception {
    try (DedupTasks tasks = new DedupTasks(backend, parameters(DedupMode.EXACT_KEYS), 1, null)) {
      byte[] bytes = {1};
      assertThat(tasks.process(new Change<>(Operation.ADD, bytes, 7, ""))).isEqualTo(Kind.ACCEPTED);
      bytes[0] = 2;
      assertThat(tasks.process(new Change<>(Operation.ADD, bytes, 7, ""))).isEqualTo(Kind.ACCEPTED);
      bytes[0] = 1;
      assertThat(tasks.process(new Change<>(Operation.ADD, bytes, 7, "")))
          .isEqualTo(Kind.DUPLICATE);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "APPROXIMATE, EXACT, approximate, exact",
    "EXACT, APPROXIMATE, exact, approximate",
    "EXACT, EXACT_KEYS, exact, exact-keys"
  })
  void anotherModeIsRefused(DedupMode before, DedupMode after, String inState, String inJob)
      throws Exception {
    DedupTasks.State state;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters(before), 1, null)) {
      process(tasks, Operation.ADD, List.of(0), Kind.ACCEPTED);
      state = tasks.savepoint();
    }
    assertThatThrownBy(() -> new DedupTasks(Backend.HEAP, parameters(after), 1, state))
        .hasStackTraceContaining(
            "The dedup state cannot be restored by this job, they differ in: mode (state: %s, job:"
                + " %s)",
            inState, inJob);
  }

  private static List<Integer> numbers(int count) {
    List<Integer> numbers = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      numbers.add(number);
    }
    return numbers;
  }

  private static void process(
      DedupTasks tasks, Operation operation, List<Integer> numbers, Kind expected)
      throws Exception {
    for (int number : numbers) {
      assertThat(tasks.process(change(operation, number)))
          .as("%s of %d", operation, number)
          .isEqualTo(expected);
    }
  }
}
