package io.firstseen.operators.compaction;

import io.firstseen.filters.key.Shards;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the snapshot operators must do, said as plainly as can be: it keeps every operation for ever
 * and knows neither state, timers nor parallelism.
 *
 * <p>An operation lands in the latest of its own window, the first window that no watermark has
 * closed, and the window of the operation before it on the same hash. The set at the end of a
 * window holds the hashes whose last operation up to it is an add.
 */
final class SnapshotModel {

  /** A rule that a model can be told to break, to show that a history would tell. */
  enum Rule {
    WHAT_IS_CLOSED_STAYS_CLOSED,
    AND_STAYS_SO_AFTER_A_RESTART,
    NO_OPERATION_OVERTAKES_AN_EARLIER_ONE,
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

  private final Shards shards;
  private final long windowMillis;
  private final Rule broken;
  private final Map<Long, List<Landed>> historyByHash = new HashMap<>();
  private final TreeSet<Long> windowsWithoutManifest = new TreeSet<>();
  private final Cut[] newest;
  private final List<Expected> manifests = new ArrayList<>();
  private int cuts;
  private long closedUntil = Long.MIN_VALUE;
  private long quietUntil = Long.MAX_VALUE;

  SnapshotModel(int shardCount, long windowMillis) {
    this(shardCount, windowMillis, null);
  }

  /** The model that breaks a rule. */
  SnapshotModel(int shardCount, long windowMillis, Rule broken) {
    this.broken = broken;
    this.shards = new Shards(shardCount);
    this.windowMillis = windowMillis;
    this.newest = new Cut[shardCount];
  }

  private long windowOf(long instant) {
    return Math.floorDiv(instant, windowMillis) * windowMillis + windowMillis;
  }

  void operation(long hash, boolean add, long eventTimeMillis) {
    List<Landed> history = historyByHash.computeIfAbsent(hash, unused -> new ArrayList<>());
    long window = windowOf(eventTimeMillis);
    if (closedUntil != Long.MIN_VALUE && broken != Rule.WHAT_IS_CLOSED_STAYS_CLOSED) {
      window = Math.max(window, windowOf(closedUntil));
    }
    if (!history.isEmpty() && broken != Rule.NO_OPERATION_OVERTAKES_AN_EARLIER_ONE) {
      window = Math.max(window, history.get(history.size() - 1).windowEndMillis);
    }
    history.add(new Landed(window, add));
    windowsWithoutManifest.add(window);
  }

  void watermark(long watermark) {
    boolean ends = watermark == Long.MAX_VALUE;
    long over = ends ? Long.MAX_VALUE : windowOf(watermark + 1) - windowMillis;
    boolean published = false;
    while (!windowsWithoutManifest.isEmpty() && windowsWithoutManifest.first() <= over) {
      long window = windowsWithoutManifest.pollFirst();
      closedUntil = Math.max(closedUntil, window);
      cutShards(window);
      publish(window);
      published = true;
    }
    if (!ends) {
      closedUntil = Math.max(closedUntil, over);
      if (!published && quietUntil <= over && broken != Rule.A_QUIET_STREAM_PUBLISHES) {
        publish(broken == Rule.A_JUMP_PUBLISHES_THE_NEWEST_WINDOW ? quietUntil : over);
        published = true;
      }
      if (published) {
        quietUntil = over + windowMillis;
      }
    }
  }

  /** A restart changes nothing; only Flink's own watermark begins anew. */
  void restart() {
    if (broken == Rule.AND_STAYS_SO_AFTER_A_RESTART) {
      closedUntil = Long.MIN_VALUE;
    }
  }

  private void cutShards(long window) {
    Map<Integer, Set<Long>> before = liveByShard(window - 1);
    Map<Integer, Set<Long>> after = liveByShard(window);
    for (int shard = 0; shard < newest.length; shard++) {
      Set<Long> hashes = after.getOrDefault(shard, Set.of());
      if (!hashes.equals(before.getOrDefault(shard, Set.of()))) {
        int number = newest[shard] == null ? 1 : newest[shard].number + 1;
        newest[shard] = new Cut(number, window, hashes);
        cuts++;
      }
    }
  }

  private Map<Integer, Set<Long>> liveByShard(long untilWindowEnd) {
    Map<Integer, Set<Long>> live = new TreeMap<>();
    historyByHash.forEach(
        (hash, history) -> {
          boolean present = false;
          for (Landed landed : history) {
            if (landed.windowEndMillis <= untilWindowEnd) {
              present = landed.add;
            }
          }
          if (present) {
            live.computeIfAbsent(shards.shardOf(hash), unused -> new TreeSet<>()).add(hash);
          }
        });
    return live;
  }

  private void publish(long windowEndMillis) {
    List<Cut> copy = new ArrayList<>(Arrays.asList(newest));
    manifests.add(new Expected(manifests.size() + 1, windowEndMillis, copy));
  }

  List<Expected> manifests() {
    return manifests;
  }

  int cuts() {
    return cuts;
  }

  /** What the last operation left, all windows closed. */
  Set<Long> live() {
    Set<Long> live = new TreeSet<>();
    liveByShard(Long.MAX_VALUE).values().forEach(live::addAll);
    return live;
  }
}
