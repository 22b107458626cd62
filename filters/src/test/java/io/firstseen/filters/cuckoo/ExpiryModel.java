package io.firstseen.filters.cuckoo;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Compares a filter whose keys expire with the exact times of the keys, under random adds,
 * duplicates, deletes, advances of the clock, writing and reading back, loans, sweeps, and changes
 * of the time to live.
 *
 * <p>Throws {@link AssertionError} with the operation's number and the seed as soon as a live key
 * is forgotten early, or one is kept past its bound.
 */
final class ExpiryModel {
  /** No two keys of a run have one identity of this length. */
  private static final CuckooShape SHAPE = new CuckooShape(57);

  /**
   * Parameters of a run.
   *
   * @param keys number of keys to choose from
   * @param aheadEpochs how many epochs ahead of the clock the times of keys may be, and as many
   *     behind it; beyond two, keys may stay longer than their bound
   * @param changingTtl whether a restore may change the time to live
   */
  record Plan(
      int keys, long ttlMillis, boolean sinceLastSeen, double aheadEpochs, boolean changingTtl) {}

  /** Wrong input for the filter, as negative controls. */
  record Mistake(long ttlMillis, long timeMillis) {
    static final Mistake NONE = new Mistake(0, 0);
  }

  private static final class Key {
    long time;

    /** The longest since it was stored. */
    long epochMillis;

    /** Its time had expired at some instant. */
    boolean passed;
  }

  private final Plan plan;
  private final Mistake mistake;
  private final long seed;
  private final SplittableRandom random;
  private final double phase;
  private final Map<Long, Key> keys = new HashMap<>();
  private final ExpiringPages pages;
  private long[] hashes;
  private long ttlMillis;
  private long epochMillis;
  private Expiry expiry;
  private final PagedFilter filter = new PagedFilter(SHAPE);
  private long now;
  private int operation;
  private int forgotten;
  private int next;

  ExpiryModel(Plan plan, Mistake mistake, long seed) {
    this.plan = plan;
    this.mistake = mistake;
    this.seed = seed;
    this.random = new SplittableRandom(seed);
    this.phase = random.nextDouble();
    this.hashes = random.longs(plan.keys()).toArray();
    this.now = random.nextLong(1L << 41);
    renewFilter(plan.ttlMillis());
    this.pages = new ExpiringPages(SHAPE, expiry);
  }

  ExpiringPages pages() {
    return pages;
  }

  /** Keys that were found to be forgotten when they came again. */
  int forgotten() {
    return forgotten;
  }

  long expired() {
    return expiry.expired();
  }

  /** Adds a key that was not there, without moving the clock. */
  void fill() {
    hashes[next] = random.nextLong();
    add(hashes[next]);
    next = (next + 1) % hashes.length;
  }

  void run(int operations) {
    while (operation < operations) {
      operation++;
      step();
    }
    sweepAll();
    pages.verify();
    advance((ttlMillis + epochMillis) * 40);
    sweepAll();
    require(pages.count() == 0, "nothing is kept forever");
    pages.verify();
  }

  private void step() {
    int choice = random.nextInt(1000);
    if (choice < 800) {
      add(hashes[random.nextInt(hashes.length)]);
    } else if (choice < 850) {
      delete(hashes[random.nextInt(hashes.length)]);
    } else if (choice < 900) {
      lookUp(hashes[random.nextInt(hashes.length)]);
    } else if (choice < 990) {
      advance(random.nextLong(epochMillis / 4));
    } else if (choice < 993) {
      for (CuckooPage page : pages.all()) {
        if (random.nextInt(4) == 0) {
          filter.expire(pages, page);
        }
      }
    } else if (choice < 997) {
      pages.freeze(filter);
    } else if (choice < 999) {
      pages.writeAndRead(filter);
      renewFilter(
          plan.changingTtl() && random.nextInt(4) == 0
              ? Expiry.MIN_TTL_MILLIS + random.nextLong(2 * plan.ttlMillis())
              : ttlMillis);
    } else if (random.nextInt(5) == 0) {
      advance(random.nextLong(3 * ttlMillis));
    }
  }

  private void renewFilter(long newTtlMillis) {
    keys.values().forEach(key -> key.passed = !mustLive(key));
    long phaseMillis = (long) (phase * (newTtlMillis / 8.0));
    expiry = new Expiry(newTtlMillis + mistake.ttlMillis(), plan.sinceLastSeen(), phaseMillis);
    if (pages != null) {
      pages.turnTo(expiry);
    }
    ttlMillis = newTtlMillis;
    epochMillis = (newTtlMillis + 7) / 8;
    keys.values().forEach(key -> key.epochMillis = Math.max(key.epochMillis, epochMillis));
    expiry.advanceTo(now);
  }

  private void advance(long millis) {
    now += millis;
    expiry.advanceTo(now);
  }

  private boolean mustLive(Key key) {
    return key != null && !key.passed && now < key.time + ttlMillis;
  }

  private boolean mustBeForgotten(Key key) {
    long later = plan.changingTtl() ? key == null ? 0 : 5 * key.epochMillis : epochMillis;
    return key == null || (plan.aheadEpochs() <= 2 && now >= key.time + (epochMillis * 8) + later);
  }

  private long anyTime() {
    double epochs = (2 * random.nextDouble() - 1) * plan.aheadEpochs();
    return now + (long) (epochs * epochMillis);
  }

  private void add(long hash) {
    long time = anyTime();
    expiry.keysOf(time + mistake.timeMillis());
    long from = Math.max(time, now);
    InsertionResult insertion = filter.insertIfAbsent(pages, hash);
    Key key = keys.get(hash);
    if (insertion == InsertionResult.PRESENT) {
      require(!mustBeForgotten(key), "no key is kept past its bound");
      if (plan.sinceLastSeen()) {
        key.time = Math.max(key.time, from);
        key.epochMillis = Math.max(key.epochMillis, epochMillis);
        key.passed = false;
      }
    } else {
      require(!mustLive(key), "no live key is forgotten");
      forgotten += key == null ? 0 : 1;
      Key added = new Key();
      added.time = from;
      added.epochMillis = epochMillis;
      keys.put(hash, added);
    }
    require(filter.mightContain(pages, hash), "a key just seen is found");
  }

  private void delete(long hash) {
    boolean deleted = filter.delete(pages, hash);
    Key key = keys.remove(hash);
    require(deleted || !mustLive(key), "a delete of a live key is true");
    require(!deleted || !mustBeForgotten(key), "a delete of a forgotten key is false");
  }

  private void lookUp(long hash) {
    boolean found = filter.mightContain(pages, hash);
    Key key = keys.get(hash);
    require(found || !mustLive(key), "a live key is found");
    require(!found || !mustBeForgotten(key), "a forgotten key is not found");
  }

  private void sweepAll() {
    for (CuckooPage page : pages.all()) {
      filter.expire(pages, page);
    }
    long least = keys.values().stream().filter(this::mustLive).count();
    long most = keys.values().stream().filter(key -> !mustBeForgotten(key)).count();
    require(pages.count() >= least, "no live key is swept");
    require(pages.count() <= most, "all keys past their bound are swept");
  }

  private void require(boolean held, String what) {
    if (!held) {
      throw new AssertionError(
          "broken at operation %d of seed %d: %s".formatted(operation, seed, what));
    }
  }
}
