package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Shards;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the snapshot operators must do, said as plainly as can be: it keeps every operation for ever
 * and knows neither state nor timers. It is told what arrives where, in that order, and says which
 * manifests go out. What was lost with a failure it must not be told.
 *
 * <p>An operation lands in the latest of its own window, the first window that its shard has open,
 * and the window of the operation before it on the same hash. The set at the end of a window holds
 * the hashes whose last operation up to it is an add.
 */
final class SnapshotModel {

  /** A rule that a model can be told to break, to show that a history would tell. */
  enum Rule {
    AN_IDLE_INPUT_HOLDS_NOTHING_BACK,
    AN_INPUT_THAT_ENDED_ENDS_NO_OTHER,
    WHAT_IS_CLOSED_STAYS_CLOSED,
    AND_STAYS_SO_AFTER_A_RESTART,
    NO_OPERATION_OVERTAKES_AN_EARLIER_ONE,
    ALL_SUBTASKS_MUST_HAVE_PASSED_A_WINDOW,
    A_QUIET_STREAM_PUBLISHES,
    A_JUMP_PUBLISHES_THE_NEWEST_WINDOW
  }

  /**
   * A manifest that must be published.
   *
   * @param shards for every shard the hashes of its newest snapshot, or null if it has none
   */
  record Expected(long sequence, long windowEndMillis, List<Cut> shards) {}

  /** A snapshot that must be cut at the end of a window; numbers count from 1 in each shard. */
  record Cut(int number, long windowEndMillis, Set<Long> hashes) {}

  private record Landed(long windowEndMillis, boolean add) {}

  /** Where some of the shards are. */
  private final class Subtask {
    private final ModelTime time =
        new ModelTime(inputs, broken != Rule.AN_IDLE_INPUT_HOLDS_NOTHING_BACK);
    private final Queue<Long> sent = new ArrayDeque<>();
    private long closedUntil = Long.MIN_VALUE;
  }

  private final class Shard {
    private final Map<Long, List<Landed>> historyByHash = new HashMap<>();
    private final TreeSet<Long> openWindows = new TreeSet<>();
    private final TreeMap<Long, Cut> cuts = new TreeMap<>();
    private long closedUntil = Long.MIN_VALUE;

    void close(long window) {
      openWindows.remove(window);
      windowsWithoutManifest.add(window);
      closedUntil = window;
      Set<Long> live = liveAt(window);
      Set<Long> before = cuts.isEmpty() ? Set.of() : cuts.lastEntry().getValue().hashes;
      if (!live.equals(before)) {
        cuts.put(window, new Cut(cuts.size() + 1, window, live));
      }
    }

    Set<Long> liveAt(long window) {
      Set<Long> live = new TreeSet<>();
      historyByHash.forEach(
          (hash, history) -> {
            Landed last = null;
            for (Landed landed : history) {
              last = landed.windowEndMillis <= window ? landed : last;
            }
            if (last != null && last.add) {
              live.add(hash);
            }
          });
      return live;
    }
  }

  private final Shards shards;
  private final long windowMillis;
  private final int inputs;
  private final Rule broken;
  private final List<Shard> shardByNumber = new ArrayList<>();
  private int[] subtaskByShard;
  private List<Subtask> subtasks = new ArrayList<>();
  private ModelTime timeOfManifests = new ModelTime(1, true);
  private final TreeSet<Long> windowsWithoutManifest = new TreeSet<>();
  private final List<Expected> manifests = new ArrayList<>();
  private long quietUntil = Long.MAX_VALUE;
  private int surplusWatermarks;

  /** One subtask with one input. */
  SnapshotModel(int shardCount, long windowMillis) {
    this(shardCount, windowMillis, 1, null);
  }

  /** The model that breaks a rule, or none if that is null. */
  SnapshotModel(int shardCount, long windowMillis, int inputs, Rule broken) {
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

  /** An operation arrives where its shard is. */
  void operation(long hash, boolean add, long eventTimeMillis) {
    int number = shards.shardOf(hash);
    Shard shard = shardByNumber.get(number);
    List<Landed> history = shard.historyByHash.computeIfAbsent(hash, unused -> new ArrayList<>());
    long window = windowOf(eventTimeMillis);
    long closed = Math.max(subtasks.get(subtaskByShard[number]).closedUntil, shard.closedUntil);
    if (closed != Long.MIN_VALUE && broken != Rule.WHAT_IS_CLOSED_STAYS_CLOSED) {
      window = Math.max(window, windowOf(closed));
    }
    if (!history.isEmpty() && broken != Rule.NO_OPERATION_OVERTAKES_AN_EARLIER_ONE) {
      window = Math.max(window, history.get(history.size() - 1).windowEndMillis);
    }
    history.add(new Landed(window, add));
    shard.openWindows.add(window);
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

  /** A subtask hears that an input is idle no longer. */
  void active(int subtask, int input) {
    subtasks.get(subtask).time.active(input);
  }

  /** No input of a subtask has anything more, which no watermark alone can tell. */
  void endOfInputs(int subtask) {
    if (broken != Rule.AN_INPUT_THAT_ENDED_ENDS_NO_OTHER) {
      closeWindowsUntil(subtask, Long.MAX_VALUE);
    }
  }

  private void closeWindows(int number) {
    if (subtasks.get(number).time.now() < Long.MAX_VALUE
        || broken == Rule.AN_INPUT_THAT_ENDED_ENDS_NO_OTHER) {
      closeWindowsUntil(number, subtasks.get(number).time.now());
    }
  }

  private void closeWindowsUntil(int number, long now) {
    Subtask subtask = subtasks.get(number);
    for (int shard = 0; shard < shardByNumber.size(); shard++) {
      TreeSet<Long> open = shardByNumber.get(shard).openWindows;
      while (subtaskByShard[shard] == number && !open.isEmpty() && open.first() <= over(now)) {
        subtask.closedUntil = Math.max(subtask.closedUntil, open.first());
        shardByNumber.get(shard).close(open.first());
      }
    }
    if (now != Long.MAX_VALUE) {
      subtask.closedUntil = Math.max(subtask.closedUntil, over(now));
    }
    subtask.sent.add(now);
  }

  /** End of the newest window that is over at a time; at the end of all, every window is. */
  private long over(long now) {
    return now == Long.MAX_VALUE ? now : windowOf(now + 1) - windowMillis;
  }

  /** The next watermark that a subtask sent on arrives where manifests are made. */
  void heardFrom(int subtask) {
    Long millis = subtasks.get(subtask).sent.poll();
    if (millis == null) {
      surplusWatermarks++;
      return;
    }
    boolean goesOn = timeOfManifests.watermark(subtask, millis);
    if (broken == Rule.ALL_SUBTASKS_MUST_HAVE_PASSED_A_WINDOW) {
      goesOn |= timeOfManifests.reach(millis);
    }
    if (goesOn) {
      publishUntil(timeOfManifests.now());
    }
  }

  /** A manifest for every window with operations; if there was none, one that tells of life. */
  private void publishUntil(long now) {
    boolean published = false;
    while (!windowsWithoutManifest.isEmpty() && windowsWithoutManifest.first() <= over(now)) {
      publish(windowsWithoutManifest.pollFirst());
      published = true;
    }
    if (now != Long.MAX_VALUE) {
      if (!published && quietUntil <= over(now) && broken != Rule.A_QUIET_STREAM_PUBLISHES) {
        publish(broken == Rule.A_JUMP_PUBLISHES_THE_NEWEST_WINDOW ? quietUntil : over(now));
        published = true;
      }
      if (published) {
        quietUntil = windowOf(now + 1);
      }
    }
  }

  private void publish(long window) {
    List<Cut> newest = new ArrayList<>();
    for (Shard shard : shardByNumber) {
      Map.Entry<Long, Cut> cut = shard.cuts.floorEntry(window);
      newest.add(cut == null ? null : cut.getValue());
    }
    manifests.add(new Expected(manifests.size() + 1, window, newest));
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
      heardFrom(0);
    }
  }

  /**
   * All starts again where it was, with shards at other subtasks perhaps. Time begins anew; what
   * all subtasks had closed stays closed, and each shard knows what it closed itself. What was on
   * its way from a subtask still is.
   */
  void restart(int parallelism, int... newSubtaskByShard) {
    long closed = subtasks.stream().mapToLong(subtask -> subtask.closedUntil).min().getAsLong();
    List<Subtask> before = subtasks;
    start(parallelism, newSubtaskByShard);
    for (int i = 0; i < Math.min(before.size(), parallelism); i++) {
      subtasks.get(i).sent.addAll(before.get(i).sent);
    }
    if (broken == Rule.AND_STAYS_SO_AFTER_A_RESTART) {
      shardByNumber.forEach(shard -> shard.closedUntil = Long.MIN_VALUE);
    } else {
      subtasks.forEach(subtask -> subtask.closedUntil = closed);
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

  int cuts() {
    return shardByNumber.stream().mapToInt(shard -> shard.cuts.size()).sum();
  }

  /** What the last operations left, all windows closed. */
  Set<Long> live() {
    Set<Long> live = new TreeSet<>();
    shardByNumber.forEach(shard -> live.addAll(shard.liveAt(Long.MAX_VALUE)));
    return live;
  }

  /** Whether the watermarks that were heard of are those that subtasks had to send on. */
  boolean allWatermarksWereExpected() {
    return surplusWatermarks == 0 && subtasks.stream().allMatch(each -> each.sent.isEmpty());
  }
}
