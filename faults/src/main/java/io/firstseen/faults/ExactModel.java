package io.firstseen.faults;

import io.firstseen.filters.key.KeyHash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The stream of events, generated lazily from a seed, and the expected outcomes of each: new keys,
 * repeats, deletes, keys that come again, and deletes of keys that are not there.
 *
 * <p>The filter is modelled by the set of its fingerprints, so the model knows which new keys are
 * dropped. Keys of one fingerprint are in one partition, so no failure changes which came first.
 *
 * <p>Events and keys are known by their numbers, from 0. Safe for use by several threads.
 */
final class ExactModel {
  private static final int FIRST_CAPACITY = 1 << 16;

  /** Repeats and deletes choose among this many of the newest keys. */
  private static final int RECENT = 200_000;

  private final StreamSettings settings;
  private final KeyHash hash;
  private final SplittableRandom random;
  private final double matchProbability;

  private final List<Event> events = new ArrayList<>();
  private int keys;
  private int[] lastOfKey = new int[FIRST_CAPACITY];
  private long[] fingerprints = new long[FIRST_CAPACITY];

  // The keys that an add has had.
  private final BitSet added = new BitSet();
  private final Set<Long> filter = new HashSet<>();
  private int live;
  private final List<Integer> liveAtEnd = new ArrayList<>(List.of(0));
  private int drops;
  private double expectedDrops;

  ExactModel(StreamSettings settings, KeyHash hash) {
    this.settings = settings;
    this.hash = hash;
    this.random = new SplittableRandom(settings.seed());
    this.matchProbability = settings.shape().predictedFalsePositiveRate(1) / StreamSettings.SHARDS;
  }

  StreamSettings settings() {
    return settings;
  }

  /** The text of a key. */
  static String key(int number) {
    return "key-" + Integer.toString(number, 36) + "-" + Integer.toHexString(number * 0x9E3779B1);
  }

  /** The outcome of an event. */
  enum Kind {
    ACCEPTED,
    REMOVED,
    DUPLICATE,
    UNKNOWN_DELETE;

    boolean isAccepted() {
      return this == ACCEPTED || this == REMOVED;
    }

    boolean isDelete() {
      return this == REMOVED || this == UNKNOWN_DELETE;
    }
  }

  /**
   * An event.
   *
   * @param kind what must become of it
   * @param partition where it is sent
   * @param before the accepted add or removal of its key that must come just before it, or -1
   */
  record Event(int key, Kind kind, int partition, int before) {}

  synchronized Event event(int number) {
    extendTo(number + 1);
    return events.get(number);
  }

  /** Whether a key is live when all events below a number have been decided on. */
  synchronized boolean isLive(int key, int end) {
    extendTo(end);
    if (key >= keys) {
      return false;
    }
    int change = lastOfKey[key];
    while (change >= end) {
      change = events.get(change).before;
    }
    return isAdd(change);
  }

  /** How many keys are live at the end of the window of this number, from 1. */
  synchronized int liveAtEndOf(int window) {
    extendTo(window * settings.windowMillis());
    return liveAtEnd.get(window);
  }

  /** The number of keys of all generated events. */
  synchronized int keys() {
    return keys;
  }

  /** How many keys were dropped when they came for the first time. */
  synchronized int drops() {
    return drops;
  }

  /** The number of drops that the formula of the filter predicts. */
  synchronized double expectedDrops() {
    return expectedDrops;
  }

  private void extendTo(int end) {
    while (events.size() < end) {
      extend();
    }
  }

  /** Whether an accepted add or removal, or -1, is an add. */
  private boolean isAdd(int change) {
    return change >= 0 && events.get(change).kind == Kind.ACCEPTED;
  }

  private void extend() {
    int draw = random.nextInt(100);
    boolean isNew = keys == 0 || draw < 42;
    boolean isDelete = !isNew && draw >= 72;
    // A delete of a key that never came, once in 100.
    boolean isUnknown = draw == 99;
    int key = isNew || isUnknown ? newKey() : keys - 1 - random.nextInt(Math.min(keys, RECENT));
    decide(key, isDelete);
    if (events.size() % settings.windowMillis() == 0) {
      liveAtEnd.add(live);
    }
  }

  private int newKey() {
    if (keys == lastOfKey.length) {
      lastOfKey = Arrays.copyOf(lastOfKey, 2 * keys);
      fingerprints = Arrays.copyOf(fingerprints, 2 * keys);
    }
    lastOfKey[keys] = -1;
    fingerprints[keys] =
        settings.fingerprint(hash.hash(key(keys).getBytes(StandardCharsets.US_ASCII)));
    return keys++;
  }

  private void decide(int key, boolean isDelete) {
    int last = lastOfKey[key];
    boolean wasLive = isAdd(last);
    Kind kind;
    if (isDelete) {
      kind = filter.remove(fingerprints[key]) ? Kind.REMOVED : Kind.UNKNOWN_DELETE;
    } else {
      boolean isFirst = !added.get(key);
      added.set(key);
      if (isFirst) {
        expectedDrops += matchProbability * filter.size();
      }
      kind = filter.add(fingerprints[key]) ? Kind.ACCEPTED : Kind.DUPLICATE;
      // A key that is added again is dropped again, so the repetition is not counted.
      if (isFirst && kind == Kind.DUPLICATE) {
        drops++;
      }
    }
    if (kind.isAccepted()) {
      lastOfKey[key] = events.size();
      boolean isLive = kind == Kind.ACCEPTED;
      live += isLive == wasLive ? 0 : isLive ? 1 : -1;
    }
    int partition = (int) Long.remainderUnsigned(fingerprints[key], settings.partitions());
    events.add(new Event(key, kind, partition, last));
  }
}
