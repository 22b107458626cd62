package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Shards;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The simplest model of the snapshot operators: it keeps every operation forever and has neither
 * state nor timers. A test reports to it every arrival in order, and the model returns the
 * manifests that are published. Events that were lost with a failure must not be reported.
 *
 * <p>An operation is assigned to the latest of the window of its event time, the first open window
 * of its shard, and the window of the operation before it on the same hash. The set at the end of a
 * window holds the hashes whose last operation up to it is an add.
 *
 * <p>With a ttl, the time of an add is its event time, or the start of the window it is assigned to
 * if that is later. The time of a hash is the latest of its adds in windows since the one that
 * deleted it (within one window, of the adds after the last delete). Of a time, only the end of its
 * expiry window, an eighth of the ttl, is kept. A hash is forgotten at the end of the first window
 * that ends no earlier than the ttl after that, even if no operation is assigned to that window.
 */
final class SnapshotModel {

  /** A rule that a model can break, to show that a history finds it. */
  enum Rule {
    IDLE_INPUTS_ARE_IGNORED,
    ENDED_INPUTS_DO_NOT_END_OTHERS,
    CLOSED_WINDOWS_STAY_CLOSED,
    CLOSED_WINDOWS_SURVIVE_RESTARTS,
    CLOCK_CLOSES_WINDOWS_OF_QUIET_STREAMS,
    CLOCK_WAITS_WHILE_EVENT_TIME_ADVANCES,
    CLOCK_PUBLISHES_WINDOWS_OF_QUIET_STREAMS,
    OPERATIONS_KEEP_THEIR_ORDER,
    MANIFESTS_WAIT_FOR_ALL_SUBTASKS,
    QUIET_STREAMS_PUBLISH,
    JUMPS_PUBLISH_THE_NEWEST_WINDOW,
    KEYS_EXPIRE,
    KEYS_EXPIRE_WITHOUT_INPUT,
    KEYS_DO_NOT_EXPIRE_EARLY,
    DUPLICATES_RENEW_KEYS,
    KEYS_DO_NOT_EXPIRE_AT_THE_END,
    LARGE_DECREASES_ARE_HELD,
    LARGE_INCREASES_ARE_HELD,
    HELD_WINDOWS_ARE_NOT_COMPARED,
    JUMPS_CAN_BE_ALLOWED
  }

  /** The wait of operators in which the clock ends no window. */
  static final long EVENT_TIME_ONLY = Long.MAX_VALUE / 4;

  /** The rules that only apply with a ttl. */
  static final Set<Rule> RULES_OF_A_TTL =
      EnumSet.range(Rule.KEYS_EXPIRE, Rule.KEYS_DO_NOT_EXPIRE_AT_THE_END);

  /**
   * A manifest that must be published.
   *
   * @param shards for every shard the hashes of its newest set, or null if it never had one
   */
  record Expected(long sequence, long windowEndMillis, List<Set<Long>> shards) {}

  private record Landed(long windowEndMillis, boolean add, long millis) {}

  /**
   * The output of a subtask: the report of a shard for a window, or, if the report is null, a
   * watermark.
   */
  private record Sent(Shard shard, long millis, Set<Long> changed) {}

  /** Where some of the shards are. */
  private final class Subtask {
    private final ModelTime time = new ModelTime(inputs, broken != Rule.IDLE_INPUTS_ARE_IGNORED);
    private final Queue<Sent> sent = new ArrayDeque<>();
    private long closedUntil = Long.MIN_VALUE;
    private long reached = Long.MIN_VALUE;
    private long clock = clockAtStart;
    private long advanced = clockAtStart;
    // By window with operations, when the clock may close it.
    private final TreeMap<Long, Long> clockEnds = new TreeMap<>();
  }

  private final class Shard {
    private final Map<Long, List<Landed>> historyByHash = new HashMap<>();
    private final TreeSet<Long> openWindows = new TreeSet<>();
    // The reported sets, by the window whose manifest is the first with them; the last one counts.
    private final TreeMap<Long, List<Set<Long>>> heard = new TreeMap<>();
    private long closedUntil = Long.MIN_VALUE;

    // The live hashes, each with the end of its expiry window.
    private final TreeMap<Long, Long> live = new TreeMap<>();
    // With another ttl, keys may have been due in windows that are closed.
    private long forgottenUntil = Long.MIN_VALUE;

    /** The window that is to be closed next, or null if there is none. */
    Long next() {
      Long open = openWindows.isEmpty() ? null : openWindows.first();
      if (ttlMillis == 0 || live.isEmpty() || broken == Rule.KEYS_EXPIRE_WITHOUT_INPUT) {
        return open;
      }
      long oldest = live.values().stream().mapToLong(end -> end).min().getAsLong();
      long due = windowOf(Math.max(expiryWindowEnd(oldest) + ttlMillis - 1, forgottenUntil));
      return open == null ? due : (Long) Math.min(open, due);
    }

    long closedUntil() {
      int number = shardByNumber.indexOf(this);
      return Math.max(subtasks.get(subtaskByShard[number]).closedUntil, closedUntil);
    }

    void close(long window) {
      boolean operations = openWindows.remove(window);
      closedUntil = window;
      forgottenUntil = window;
      Set<Long> before = Set.copyOf(live.keySet());
      historyByHash.forEach((hash, history) -> take(hash, history, window));
      if (ttlMillis > 0 && broken != Rule.KEYS_EXPIRE) {
        // A key of this set came before the window's end: its expiry window is no later.
        live.replaceAll((hash, end) -> Math.min(expiryWindowEnd(end), expiryWindowEnd(window)));
        long early = broken == Rule.KEYS_DO_NOT_EXPIRE_EARLY ? windowMillis : 0;
        live.values().removeIf(end -> end + ttlMillis - early <= window);
      }
      Set<Long> changed = null;
      if (!live.keySet().equals(before)) {
        changed = Set.copyOf(live.keySet());
      }
      if (operations || changed != null) {
        int subtask = subtaskByShard[shardByNumber.indexOf(this)];
        subtasks.get(subtask).sent.add(new Sent(this, window, changed));
      }
    }

    private void take(long hash, List<Landed> history, long window) {
      Landed last = null;
      long millis = Long.MIN_VALUE;
      for (Landed landed : history) {
        if (landed.windowEndMillis == window) {
          last = landed;
          millis = landed.add ? Math.max(millis, landed.millis) : Long.MIN_VALUE;
        }
      }
      if (last == null) {
        return;
      }
      if (!last.add) {
        live.remove(hash);
      } else if (broken == Rule.DUPLICATES_RENEW_KEYS) {
        live.putIfAbsent(hash, expiryWindowEnd(millis + 1));
      } else {
        live.merge(hash, expiryWindowEnd(millis + 1), Math::max);
      }
    }
  }

  private final Shards shards;
  private final long windowMillis;
  private final int inputs;
  private long ttlMillis;
  private final Rule broken;
  private final List<Shard> shardByNumber = new ArrayList<>();
  private int[] subtaskByShard;
  // How long an operator waits for event time before the clock ends a window.
  private final long waitMillis;
  private long clockAtStart;
  private long clockOfManifests;
  private final TreeMap<Long, Long> clockEndsOfManifests = new TreeMap<>();
  private List<Subtask> subtasks = new ArrayList<>();
  private ModelTime timeOfManifests = new ModelTime(1, true);
  private final TreeSet<Long> windowsWithoutManifest = new TreeSet<>();
  private final List<Expected> manifests = new ArrayList<>();
  // The sequence of the last window that ended, held or not.
  private long lastSequence;
  private long lastWindow;
  private ChangeBounds bounds = ChangeBounds.NONE;
  private long jumpAllowedAfter = -1;
  // Of the last manifest that a window is compared with.
  private long comparedCount = -1;
  private long quietUntil = Long.MAX_VALUE;
  private int surplusArrivals;

  /** One subtask with one input. */
  SnapshotModel(int shardCount, long windowMillis) {
    this(shardCount, windowMillis, 0, 1, EVENT_TIME_ONLY, null);
  }

  /** The model that breaks a rule, or none if that is null; no ttl if that is 0. */
  SnapshotModel(
      int shardCount, long windowMillis, long ttlMillis, int inputs, long waitMillis, Rule broken) {
    this.waitMillis = waitMillis;
    this.ttlMillis = ttlMillis;
    this.shards = new Shards(shardCount);
    this.windowMillis = windowMillis;
    this.inputs = inputs;
    this.broken = broken;
    for (int shard = 0; shard < shardCount; shard++) {
      shardByNumber.add(new Shard());
    }
    start(1, new int[shardCount]);
  }

  private long windowOf(long instant) {
    return Math.floorDiv(instant, windowMillis) * windowMillis + windowMillis;
  }

  /** The end of the expiry window that ends at an instant or next after it. */
  private long expiryWindowEnd(long instant) {
    if (ttlMillis == 0) {
      return 0;
    }
    long expiryWindowMillis = (ttlMillis + 7) / 8;
    return -Math.floorDiv(-instant, expiryWindowMillis) * expiryWindowMillis;
  }

  /** An operation arrives at the subtask of its shard. */
  void operation(long hash, boolean add, long eventTimeMillis) {
    int number = shards.shardOf(hash);
    Shard shard = shardByNumber.get(number);
    List<Landed> history = shard.historyByHash.computeIfAbsent(hash, unused -> new ArrayList<>());
    long window = windowOf(eventTimeMillis);
    long closed = shard.closedUntil();
    if (closed != Long.MIN_VALUE && broken != Rule.CLOSED_WINDOWS_STAY_CLOSED) {
      window = Math.max(window, windowOf(closed));
    }
    if (!history.isEmpty() && broken != Rule.OPERATIONS_KEEP_THEIR_ORDER) {
      window = Math.max(window, history.get(history.size() - 1).windowEndMillis);
    }
    history.add(new Landed(window, add, Math.max(eventTimeMillis, window - windowMillis)));
    shard.openWindows.add(window);
    Subtask subtask = subtasks.get(subtaskByShard[number]);
    subtask.clockEnds.putIfAbsent(window, Math.max(window, subtask.clock) + waitMillis);
  }

  /** Advances the clock of a subtask. */
  void clock(int number, long nowMillis) {
    Subtask subtask = subtasks.get(number);
    subtask.clock = nowMillis;
    long due = Long.MIN_VALUE;
    for (Map.Entry<Long, Long> each : subtask.clockEnds.entrySet()) {
      due = each.getValue() <= nowMillis ? each.getKey() : due;
    }
    boolean quiet =
        subtask.advanced + waitMillis <= nowMillis
            || broken == Rule.CLOCK_WAITS_WHILE_EVENT_TIME_ADVANCES;
    if (due != Long.MIN_VALUE && quiet && broken != Rule.CLOCK_CLOSES_WINDOWS_OF_QUIET_STREAMS) {
      closeWindowsUntil(number, due - 1);
    }
  }

  /** Advances the clock of the manifests. */
  void clockOfManifests(long nowMillis) {
    clockOfManifests = nowMillis;
    long due = Long.MIN_VALUE;
    for (Map.Entry<Long, Long> each : clockEndsOfManifests.entrySet()) {
      due = each.getValue() <= nowMillis ? each.getKey() : due;
    }
    while (!windowsWithoutManifest.isEmpty()
        && windowsWithoutManifest.first() <= due
        && broken != Rule.CLOCK_PUBLISHES_WINDOWS_OF_QUIET_STREAMS) {
      quietUntil = Math.min(quietUntil, windowsWithoutManifest.first());
      publish(windowsWithoutManifest.pollFirst());
    }
  }

  /** A watermark of an input arrives at a subtask. */
  void watermark(int subtask, int input, long millis) {
    if (subtasks.get(subtask).time.watermark(input, millis)) {
      closeWindows(subtask);
    }
  }

  /** A subtask hears that an input is idle. */
  void idle(int subtask, int input) {
    if (subtasks.get(subtask).time.idle(input)) {
      closeWindows(subtask);
    }
  }

  /** A subtask hears that an input is active again. */
  void active(int subtask, int input) {
    subtasks.get(subtask).time.active(input);
  }

  /** All inputs of a subtask have ended; a watermark alone cannot say this. */
  void endOfInputs(int subtask) {
    if (broken != Rule.ENDED_INPUTS_DO_NOT_END_OTHERS) {
      closeWindowsUntil(subtask, Long.MAX_VALUE);
    }
  }

  private void closeWindows(int number) {
    Subtask subtask = subtasks.get(number);
    long now = subtask.time.now();
    boolean allEnded = now == Long.MAX_VALUE;
    if (now > subtask.reached && (!allEnded || broken == Rule.ENDED_INPUTS_DO_NOT_END_OTHERS)) {
      subtask.advanced = subtask.clock;
      closeWindowsUntil(number, now);
    }
  }

  private void closeWindowsUntil(int subtaskNumber, long now) {
    Subtask subtask = subtasks.get(subtaskNumber);
    for (int number = 0; number < shardByNumber.size(); number++) {
      Shard shard = shardByNumber.get(number);
      while (subtaskByShard[number] == subtaskNumber && mustClose(shard, now)) {
        long next = shard.next();
        subtask.closedUntil = Math.max(subtask.closedUntil, next);
        shard.close(next);
      }
    }
    subtask.reached = now;
    if (now != Long.MAX_VALUE) {
      subtask.closedUntil = Math.max(subtask.closedUntil, over(now));
    }
    subtask.clockEnds.headMap(subtask.closedUntil, true).clear();
    subtask.sent.add(new Sent(null, now, null));
  }

  /** At the end of all inputs, a shard forgets keys only up to its last window with operations. */
  private boolean mustClose(Shard shard, long now) {
    boolean ended = now == Long.MAX_VALUE && broken != Rule.KEYS_DO_NOT_EXPIRE_AT_THE_END;
    return shard.next() != null
        && shard.next() <= over(now)
        && !(ended && shard.openWindows.isEmpty());
  }

  /**
   * Returns the end of the newest window that has ended at a time; at the end of all input, every
   * window has ended.
   */
  private long over(long now) {
    return now == Long.MAX_VALUE ? now : windowOf(now + 1) - windowMillis;
  }

  /** The next watermark of a subtask arrives at the manifest function. */
  void heardFrom(int subtask) {
    Sent sent = subtasks.get(subtask).sent.peek();
    if (sent == null || sent.shard != null) {
      surplusArrivals++;
    } else {
      subtasks.get(subtask).sent.remove();
      heardWatermark(subtask, sent.millis);
    }
  }

  /** The report of a shard arrives. Those between two watermarks may be in any order. */
  void heardFrom(int subtask, int shard, long windowEndMillis) {
    Sent sent = null;
    for (Sent each : subtasks.get(subtask).sent) {
      if (each.shard == null) {
        break;
      }
      if (each.shard == shardByNumber.get(shard) && each.millis == windowEndMillis) {
        sent = each;
        break;
      }
    }
    if (sent == null) {
      surplusArrivals++;
    } else {
      subtasks.get(subtask).sent.remove(sent);
      // Reports after the window's manifest count for the next manifest.
      long window = Math.max(sent.millis, windowOf(lastWindowOver()));
      windowsWithoutManifest.add(window);
      clockEndsOfManifests.putIfAbsent(window, Math.max(window, clockOfManifests) + waitMillis);
      if (sent.changed != null) {
        sent.shard.heard.computeIfAbsent(window, unused -> new ArrayList<>()).add(sent.changed);
      }
    }
  }

  private long lastWindowOver() {
    return lastSequence == 0 ? -windowMillis : lastWindow;
  }

  private void heardWatermark(int subtask, long millis) {
    boolean canContinue = timeOfManifests.watermark(subtask, millis);
    if (broken == Rule.MANIFESTS_WAIT_FOR_ALL_SUBTASKS) {
      canContinue |= timeOfManifests.reach(millis);
    }
    if (canContinue) {
      publishUntil(timeOfManifests.now());
    }
  }

  /**
   * Publishes a manifest for every window with operations; if there was none, one that shows that
   * the stream is alive.
   */
  private void publishUntil(long now) {
    boolean published = false;
    while (!windowsWithoutManifest.isEmpty() && windowsWithoutManifest.first() <= over(now)) {
      publish(windowsWithoutManifest.pollFirst());
      published = true;
    }
    if (now != Long.MAX_VALUE) {
      if (!published
          && quietUntil <= over(now)
          && lastWindowOver() < over(now)
          && broken != Rule.QUIET_STREAMS_PUBLISH) {
        publish(broken == Rule.JUMPS_PUBLISH_THE_NEWEST_WINDOW ? quietUntil : over(now));
        published = true;
      }
      if (published) {
        quietUntil = windowOf(now + 1);
      }
    }
  }

  private void publish(long window) {
    clockEndsOfManifests.remove(window);
    List<Set<Long>> newest = new ArrayList<>();
    // Each change of a shard uses up a sequence.
    int packs = 1;
    for (Shard shard : shardByNumber) {
      Map.Entry<Long, List<Set<Long>>> sets = shard.heard.floorEntry(window);
      newest.add(sets == null ? null : sets.getValue().get(sets.getValue().size() - 1));
      packs = Math.max(packs, shard.heard.getOrDefault(window, List.of()).size());
    }
    long sequence = lastSequence + packs;
    lastSequence = sequence;
    lastWindow = window;
    long count = newest.stream().mapToLong(set -> set == null ? 0 : set.size()).sum();
    boolean held = isHeld(count);
    if (!held || broken == Rule.HELD_WINDOWS_ARE_NOT_COMPARED) {
      comparedCount = count;
    }
    if (!held) {
      manifests.add(new Expected(sequence, window, newest));
    }
  }

  private boolean isHeld(long count) {
    if (comparedCount < 0) {
      return false;
    }
    boolean allowed = jumpAllowedAfter == manifests.get(manifests.size() - 1).sequence;
    if (allowed && broken != Rule.JUMPS_CAN_BE_ALLOWED) {
      return false;
    }
    boolean fell =
        comparedCount >= bounds.floor() && count < comparedCount * (1 - bounds.maxFall());
    if (fell && broken != Rule.LARGE_DECREASES_ARE_HELD) {
      return true;
    }
    boolean grew = count > Math.max(comparedCount, bounds.floor()) * bounds.maxGrowth();
    return grew && broken != Rule.LARGE_INCREASES_ARE_HELD;
  }

  /** Sets other bounds, with one allowed jump. */
  void bounded(ChangeBounds newBounds, long newJumpAllowedAfter) {
    bounds = newBounds;
    jumpAllowedAfter = newJumpAllowedAfter;
  }

  /** One watermark arrives everywhere, where there is one subtask with one input. */
  void watermark(long millis) {
    watermark(0, 0, millis);
    hearAll();
  }

  /** The one input ends. */
  void endOfInput() {
    endOfInputs(0);
    hearAll();
  }

  private void hearAll() {
    while (!subtasks.get(0).sent.isEmpty()) {
      Sent next = subtasks.get(0).sent.peek();
      if (next.shard == null) {
        heardFrom(0);
      } else {
        heardFrom(0, shardByNumber.indexOf(next.shard), next.millis);
      }
    }
  }

  /**
   * Restarts from the current state, optionally with shards at different subtasks. Watermarks start
   * again; windows that a subtask had closed stay closed for its shards. Records and watermarks in
   * flight from a subtask stay in flight.
   *
   * @param newTtlMillis the new ttl; 0 for none, which is possible only if there was none before
   */
  void restart(long newTtlMillis, long nowMillis, int parallelism, int... newSubtaskByShard) {
    ttlMillis = newTtlMillis;
    clockAtStart = nowMillis;
    clockOfManifests = nowMillis;
    restart(parallelism, newSubtaskByShard);
  }

  private void restart(int parallelism, int... newSubtaskByShard) {
    shardByNumber.forEach(shard -> shard.closedUntil = shard.closedUntil());
    List<Subtask> before = subtasks;
    start(parallelism, newSubtaskByShard);
    for (int i = 0; i < Math.min(before.size(), parallelism); i++) {
      subtasks.get(i).sent.addAll(before.get(i).sent);
    }
    if (broken == Rule.CLOSED_WINDOWS_SURVIVE_RESTARTS) {
      shardByNumber.forEach(shard -> shard.closedUntil = Long.MIN_VALUE);
    }
    shardByNumber.forEach(shard -> shard.forgottenUntil = shard.closedUntil());
    for (int number = 0; number < shardByNumber.size(); number++) {
      Subtask subtask = subtasks.get(subtaskByShard[number]);
      for (long window : shardByNumber.get(number).openWindows) {
        subtask.clockEnds.put(window, Math.max(window, clockAtStart) + waitMillis);
      }
    }
  }

  private void start(int parallelism, int[] newSubtaskByShard) {
    subtaskByShard = newSubtaskByShard;
    subtasks = new ArrayList<>();
    for (int i = 0; i < parallelism; i++) {
      subtasks.add(new Subtask());
    }
    timeOfManifests = new ModelTime(parallelism, true);
  }

  List<Expected> manifests() {
    return manifests;
  }

  /** How many changes of shards must be published. */
  int changes() {
    return shardByNumber.stream()
        .flatMap(shard -> shard.heard.values().stream())
        .mapToInt(List::size)
        .sum();
  }

  /** The live hashes after all windows were closed. */
  Set<Long> live() {
    Set<Long> live = new TreeSet<>();
    shardByNumber.forEach(shard -> live.addAll(shard.live.keySet()));
    return live;
  }

  /** Whether everything that subtasks had to emit was reported. */
  boolean allArrivalsWereExpected() {
    return surplusArrivals == 0 && subtasks.stream().allMatch(each -> each.sent.isEmpty());
  }
}
