package io.firstseen.operators.dedup;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.dedup.DedupTasks.Backend;
import io.firstseen.operators.dedup.ModelFilters.Kind;
import io.firstseen.serializers.Change;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import io.firstseen.types.TimeToLive.Clock;
import io.firstseen.types.TimeToLive.Since;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Compares a dedup with a ttl in Flink's harness with the exact times of the keys, under random
 * adds, duplicates, deletes, advances of the clock, and restores to other backends, scales and
 * lengths of the ttl.
 *
 * <p>Throws {@link AssertionError} with the event's number and the seed as soon as a live key is
 * forgotten early, or one is kept past its bound.
 */
// Flink's harness may be interrupted while it closes.
@SuppressWarnings("try")
final class ExpiryModel {
  static final int SHARDS = 4;
  private static final KeyHash HASH = KeyHash.fixed();

  private static final class Key {
    long time;

    /** The longest since it was stored. */
    long epochMillis;

    /** Its time had expired under an earlier ttl. */
    boolean passed;
  }

  private final SplittableRandom random;
  private final long seed;
  private final int keyCount;
  private final Map<String, Key> keys = new HashMap<>();
  private final long mistakeMillis;
  private TimeToLive ttl;
  private boolean changed;
  private long now;
  private int event;
  private int forgotten;

  /**
   * @param mistakeMillis how much longer the operator's ttl is than the model's: a negative control
   */
  ExpiryModel(TimeToLive ttl, int keyCount, long mistakeMillis, long seed) {
    this.ttl = ttl;
    this.keyCount = keyCount;
    this.mistakeMillis = mistakeMillis;
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.now = 1_700_000_000_000L + random.nextInt(1_000_000);
  }

  static DedupParameters parameters(TimeToLive ttl) {
    return new DedupParameters(
            CuckooShape.forCapacity(10_000, 1e-9).identityBits(),
            SHARDS,
            HASH.algorithm().id(),
            HASH.keyCheck(),
            Canonicaliser.NONE.id(),
            Canonicaliser.NONE.version(),
            DedupMode.APPROXIMATE)
        .withTtl(ttl);
  }

  static Change<String> change(Operation operation, String key) {
    byte[] bytes = key.getBytes(UTF_8);
    return new Change<>(operation, bytes, HASH.hash(bytes), key);
  }

  /** Keys that were found to be forgotten when they came again. */
  int forgotten() {
    return forgotten;
  }

  long now() {
    return now;
  }

  private DedupParameters parameters() {
    return parameters(new TimeToLive(ttl.millis() + mistakeMillis, ttl.clock(), ttl.since()));
  }

  private long epochMillis() {
    return (ttl.millis() + 7) / 8;
  }

  /** Runs events through tasks that are restored every now and then. */
  void run(Backend first, int rounds, int eventsARound, boolean changingTtl) throws Exception {
    Backend backend = first;
    DedupTasks.State state = null;
    for (int round = 0; round < rounds; round++) {
      int parallelism = 1 << random.nextInt(3);
      try (DedupTasks tasks = new DedupTasks(backend, parameters(), parallelism, state)) {
        if (ttl.clock() == Clock.PROCESSING) {
          tasks.processingTime(now);
        }
        for (int i = 0; i < eventsARound; i++) {
          step(tasks);
        }
        state = tasks.savepoint();
      }
      backend = backend.other();
      if (changingTtl) {
        keys.values().forEach(key -> key.passed = !mustLive(key));
        long millis = TimeToLive.MIN_MILLIS + random.nextLong(2 * ttl.millis());
        ttl = new TimeToLive(millis, ttl.clock(), ttl.since());
        keys.values().forEach(key -> key.epochMillis = Math.max(key.epochMillis, epochMillis()));
        changed = true;
      }
    }
  }

  private void step(DedupTasks tasks) throws Exception {
    event++;
    int choice = random.nextInt(100);
    String key = "key-" + random.nextInt(keyCount);
    if (choice < 80) {
      add(tasks, key);
    } else if (choice < 85) {
      delete(tasks, key);
    } else {
      now += random.nextInt(2_000) == 0 ? 3 * ttl.millis() : random.nextLong(epochMillis() / 8);
      if (ttl.clock() == Clock.PROCESSING) {
        tasks.processingTime(now);
      } else {
        tasks.watermark(now - 1);
      }
    }
  }

  private void add(DedupTasks tasks, String key) throws Exception {
    long timestamp = now + (long) ((2 * random.nextDouble() - 1) * epochMillis());
    Kind kind = tasks.process(change(Operation.ADD, key), timestamp);
    long time = ttl.clock() == Clock.PROCESSING ? now : Math.max(timestamp, now);
    Key known = keys.get(key);
    if (kind == Kind.DUPLICATE) {
      require(!mustBeForgotten(known), "no key is kept past its bound");
      if (ttl.since() == Since.LAST_SEEN) {
        known.time = Math.max(known.time, time);
        known.epochMillis = Math.max(known.epochMillis, epochMillis());
        known.passed = false;
      }
    } else {
      require(!mustLive(known), "no live key is forgotten");
      forgotten += known == null ? 0 : 1;
      Key added = new Key();
      added.time = time;
      added.epochMillis = epochMillis();
      keys.put(key, added);
    }
  }

  private void delete(DedupTasks tasks, String key) throws Exception {
    Kind kind = tasks.process(change(Operation.DELETE, key), now);
    Key known = keys.remove(key);
    if (kind == Kind.REMOVED) {
      require(!mustBeForgotten(known), "a delete of a forgotten key is unknown");
    } else {
      require(!mustLive(known), "a delete of a live key removes it");
    }
  }

  private boolean mustLive(Key key) {
    return key != null && !key.passed && now < key.time + ttl.millis();
  }

  private boolean mustBeForgotten(Key key) {
    if (key == null) {
      return true;
    }
    long later = changed ? 5 * key.epochMillis : epochMillis();
    return now >= key.time + 8 * epochMillis() + later;
  }

  private void require(boolean held, String what) {
    if (!held) {
      throw new AssertionError("broken at event %d of seed %d: %s".formatted(event, seed, what));
    }
  }
}
