package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.DedupTasks.State;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random histories of events, checkpoints, failures and restores to other backends, scales and
 * cache sizes have the outcomes of the same events in one task on the heap, which never stops and
 * has no log. Without a ttl, state has the same pages, byte for byte.
 */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
class PageLogTest {
  private static final int SHARDS = 4;
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final KeyHash HASH = KeyHash.fixed();
  private static final long[] CACHE_BYTES = {0, 20_000, 60_000, 1 << 30};
  private static final TimeToLive TTL =
      TimeToLive.of(Duration.ofHours(1)).since(TimeToLive.Since.LAST_SEEN);

  private enum Mode {
    PLAIN(1e-9, DedupMode.APPROXIMATE),

    /** One new key in ten has the identity of another. */
    MISTAKEN(0.1, DedupMode.APPROXIMATE),
    EXACT(0.1, DedupMode.EXACT),
    AUDIT(0.1, DedupMode.APPROXIMATE),
    TTL(1e-9, DedupMode.APPROXIMATE);

    private final double rate;
    private final DedupMode mode;

    Mode(double rate, DedupMode mode) {
      this.rate = rate;
      this.mode = mode;
    }

    DedupParameters parameters() {
      DedupParameters parameters =
          new DedupParameters(
              CuckooShape.forCapacity(5_000, rate).identityBits(),
              SHARDS,
              HASH.algorithm().id(),
              HASH.keyCheck(),
              "none",
              1,
              mode);
      return switch (this) {
        case AUDIT -> parameters.withAudit(4);
        case TTL -> parameters.withTtl(PageLogTest.TTL);
        default -> parameters;
      };
    }
  }

  /** The pages split until the first, are merged until the second, and split again. */
  private static final int GROWN = 12_000 * SCALE;

  private static final int SHRUNK = 21_000 * SCALE;
  private static final int EVENTS = 33_000 * SCALE;

  private record Event(Change<String> change, long timeMillis) {}

  @ParameterizedTest
  @EnumSource
  void historiesWithALogAreThoseWithoutOne(Mode mode) throws Exception {
    DedupParameters parameters = mode.parameters();
    List<Event> events = events(mode);
    List<Kind> expected = new ArrayList<>();
    Map<String, byte[]> expectedPages;
    long expectedBytes;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      long grown = 0;
      for (int i = 0; i < EVENTS; i++) {
        expected.add(process(tasks, events.get(i)));
        if (i == GROWN) {
          grown = tasks.sum("pages");
        } else if (i == SHRUNK) {
          assertThat(tasks.sum("pages")).as("pages").isLessThan(grown);
        }
      }
      if (mode == Mode.PLAIN) {
        assertThat(expected).isEqualTo(exact(events));
      }
      expectedPages = tasks.pagesInState();
      expectedBytes = tasks.sum("pageBytes");
    }
    assertThat(expectedPages.size()).as("pages").isGreaterThan(SHARDS);

    SplittableRandom random = new SplittableRandom(mode.ordinal());
    State state = null;
    int done = 0;
    int failures = 0;
    long logged = 0;
    Backend backend = Backend.ROCKSDB;
    while (done < events.size()) {
      int parallelism = 1 << random.nextInt(3);
      long cacheBytes = CACHE_BYTES[random.nextInt(CACHE_BYTES.length)];
      try (DedupTasks tasks = new DedupTasks(backend, parameters, parallelism, cacheBytes, state)) {
        int position = done;
        int checkpoints = random.nextInt(1, 6);
        for (int id = 1; id <= checkpoints; id++) {
          int until = Math.min(events.size(), position + random.nextInt(1, 1_500));
          for (; position < until; position++) {
            Kind kind = process(tasks, events.get(position));
            assertThat(kind).as("event %d", position).isEqualTo(expected.get(position));
          }
          logged += backend == Backend.ROCKSDB && tasks.sum("pageLogBytes") > 0 ? 1 : 0;
          state = tasks.savepoint();
          done = position;
        }
        if (random.nextBoolean()) {
          failures++;
          // So many that a segment of the log is full, and in a state that is lost.
          for (; position < Math.min(events.size(), done + 3_000); position++) {
            Kind unused = process(tasks, events.get(position));
          }
        }
      }
      backend = random.nextInt(4) == 0 ? Backend.HEAP : Backend.ROCKSDB;
    }
    assertThat(failures).isGreaterThan(3);
    assertThat(logged).isGreaterThan(4);
    // A savepoint with a log, read by the heap backend.
    try (DedupTasks tasks = new DedupTasks(Backend.ROCKSDB, parameters, 2, 1 << 30, state)) {
      state = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 2, state)) {
      Map<String, byte[]> pages = tasks.pagesInState();
      if (mode != Mode.TTL) {
        assertThat(pages.keySet()).isEqualTo(expectedPages.keySet());
        assertThat(tasks.sum("pageBytes")).isEqualTo(expectedBytes);
        pages.forEach(
            (page, bytes) ->
                assertThat(Arrays.equals(bytes, expectedPages.get(page))).as(page).isTrue());
      }
    }
  }

  /** Without digests, 15,034 keys read a page with the smaller cache. */
  @ParameterizedTest
  @CsvSource({"30000, 6500", "70000, 4000"})
  void mostNewKeysDoNotReadTheirPages(long cacheBytes, long maxMisses) throws Exception {
    DedupParameters parameters = Mode.PLAIN.parameters();
    int keys = 26_000;
    List<Change<String>> adds = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      adds.add(add(HASH.hash(("key-" + i).getBytes(UTF_8))));
    }
    try (DedupTasks tasks = new DedupTasks(Backend.ROCKSDB, parameters, 1, cacheBytes, null)) {
      for (Change<String> add : adds) {
        assertThat(tasks.process(add)).isEqualTo(Kind.ACCEPTED);
      }
      assertThat(tasks.sum("pageBytes")).isGreaterThan(100_000);
      assertThat(tasks.sum("cacheHits") + tasks.sum("cacheMisses")).isEqualTo(keys);
      assertThat(tasks.sum("cacheMisses")).isLessThan(maxMisses);
      for (Change<String> add : adds) {
        assertThat(tasks.process(add)).isEqualTo(Kind.DUPLICATE);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"HEAP, PLAIN", "ROCKSDB, PLAIN", "ROCKSDB, EXACT"})
  void deletedKeysReturnTheirPages(Backend backend, Mode mode) throws Exception {
    List<Change<String>> adds = new ArrayList<>();
    for (int i = 0; i < 25_000; i++) {
      byte[] key = ("key-" + i).getBytes(UTF_8);
      adds.add(new Change<>(Operation.ADD, key, HASH.hash(key), new String(key, UTF_8)));
    }
    List<Kind> kinds = new ArrayList<>();
    State state;
    try (DedupTasks tasks = new DedupTasks(backend, mode.parameters(), 2, 60_000, null)) {
      for (Change<String> add : adds) {
        kinds.add(tasks.process(add));
      }
      assertThat(tasks.sum("pages")).isGreaterThan(SHARDS);
      State unused = tasks.savepoint();
      for (int i = 0; i < adds.size(); i++) {
        Change<String> add = adds.get(i);
        if (kinds.get(i) == Kind.ACCEPTED) {
          Kind deleted =
              tasks.process(new Change<>(Operation.DELETE, add.key(), add.hash(), add.event()));
          assertThat(deleted).isEqualTo(Kind.REMOVED);
        }
      }
      assertThat(tasks.sum("keys")).isZero();
      assertThat(tasks.sum("pages")).isEqualTo(SHARDS);
      assertThat(tasks.sum("pageBytes")).isZero();
      state = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(backend.other(), mode.parameters(), 4, state)) {
      for (int i = 0; i < adds.size(); i++) {
        assertThat(tasks.process(adds.get(i))).isEqualTo(kinds.get(i));
      }
    }
  }

  /** Insertions from the log stay pending although they split the page: their buckets collide. */
  @ParameterizedTest
  @EnumSource
  void aPageIsSplitWhileItsLogIsRepeated(Backend restored) throws Exception {
    DedupParameters parameters = Mode.PLAIN.parameters();
    SplittableRandom random = new SplittableRandom(51);
    List<Change<String>> adds = new ArrayList<>();
    for (int i = 0; i < 3_610; i++) {
      adds.add(add(random.nextLong() >>> 2));
    }
    int sameBucketsFrom = parameters.identityBits() - 17;
    for (int i = 0; i < 20; i++) {
      long tag = random.nextLong() >>> (Long.SIZE - sameBucketsFrom) << 17;
      adds.add(add((tag | 1 << 9) << (Long.SIZE - parameters.identityBits()) >>> 2));
    }
    Map<String, byte[]> expected;
    long expectedCount;
    long expectedBytes;
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, null)) {
      for (Change<String> add : adds) {
        assertThat(tasks.process(add)).isEqualTo(Kind.ACCEPTED);
      }
      State unused = tasks.savepoint();
      expected = tasks.pagesInState();
      expectedCount = tasks.sum("pages");
      expectedBytes = tasks.sum("pageBytes");
    }
    State state;
    // Less than a page, so that pages are dropped after each event.
    try (DedupTasks tasks = new DedupTasks(Backend.ROCKSDB, parameters, 1, 8_000, null)) {
      for (Change<String> add : adds) {
        assertThat(tasks.process(add)).isEqualTo(Kind.ACCEPTED);
      }
      assertThat(tasks.sum("pages")).as("not split yet").isEqualTo(SHARDS);
      state = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(restored, parameters, 2, 8_000, state)) {
      for (Change<String> add : adds) {
        assertThat(tasks.process(add)).isEqualTo(Kind.DUPLICATE);
      }
      state = tasks.savepoint();
    }
    try (DedupTasks tasks = new DedupTasks(Backend.HEAP, parameters, 1, state)) {
      Map<String, byte[]> pages = tasks.pagesInState();
      assertThat(pages.keySet()).isEqualTo(expected.keySet());
      pages.forEach(
          (page, bytes) -> assertThat(Arrays.equals(bytes, expected.get(page))).as(page).isTrue());
    }
    // Also finds the pages by the directory.
    for (Backend last : Backend.values()) {
      try (DedupTasks tasks = new DedupTasks(last, parameters, 1, 8_000, state)) {
        for (Change<String> add : adds) {
          assertThat(tasks.process(add)).as(add.event()).isEqualTo(Kind.DUPLICATE);
        }
        // On RocksDB alone, the insertions may still be pending.
        if (restored == Backend.HEAP || last == Backend.HEAP) {
          assertThat(tasks.sum("pages")).isEqualTo(expectedCount);
          assertThat(tasks.sum("pageBytes")).isEqualTo(expectedBytes);
        }
      }
    }
  }

  private static Change<String> add(long hash) {
    String name = Long.toString(hash);
    return new Change<>(Operation.ADD, name.getBytes(UTF_8), hash, name);
  }

  private static Kind process(DedupTasks tasks, Event event) throws Exception {
    tasks.watermark(event.timeMillis() - 1);
    return tasks.process(event.change(), event.timeMillis());
  }

  private static List<Event> events(Mode mode) {
    SplittableRandom random = new SplittableRandom(50);
    List<Event> events = new ArrayList<>();
    long now = 1_700_000_000_000L;
    Shards shards = new Shards(SHARDS);
    List<String> added = new ArrayList<>();
    while (events.size() < EVENTS) {
      if (mode == Mode.TTL) {
        now += random.nextInt(320);
      }
      boolean shrinking = events.size() >= GROWN && events.size() < SHRUNK;
      boolean delete = random.nextInt(12) < (shrinking ? 11 : 1);
      String name =
          delete && random.nextInt(8) > 0 && !added.isEmpty()
              ? added.remove(random.nextInt(added.size()))
              : "key-" + random.nextInt(120_000 * SCALE);
      byte[] key = name.getBytes(UTF_8);
      long hash = HASH.hash(key);
      // Most keys are in one shard, so that its pages split after few events.
      if (shards.shardOf(hash) > 0 && random.nextInt(8) > 0) {
        continue;
      }
      if (!delete) {
        added.add(name);
      }
      Operation operation = delete ? Operation.DELETE : Operation.ADD;
      events.add(new Event(new Change<>(operation, key, hash, name), now));
    }
    return events;
  }

  private static List<Kind> exact(List<Event> events) {
    Set<String> live = new HashSet<>();
    List<Kind> kinds = new ArrayList<>();
    for (Event event : events) {
      String key = event.change().event();
      kinds.add(
          event.change().operation() == Operation.ADD
              ? live.add(key) ? Kind.ACCEPTED : Kind.DUPLICATE
              : live.remove(key) ? Kind.REMOVED : Kind.UNKNOWN_DELETE);
    }
    return kinds;
  }
}
