package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotHeader;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The active snapshot of a set and the earlier snapshots that stay loaded, in memory or in the
 * files of a cache.
 */
final class LoadedSnapshots {
  private final @Nullable SnapshotCache cache;
  private final int historyLength;
  // The newest first.
  private final Deque<ActiveSnapshot> earlier = new ArrayDeque<>();
  private @Nullable ActiveSnapshot active;
  private long activeBytes;

  LoadedSnapshots(@Nullable SnapshotCache cache, int historyLength) {
    this.cache = cache;
    this.historyLength = historyLength;
  }

  /** Returns the active snapshot; null if there is none. */
  @Nullable ActiveSnapshot active() {
    return active;
  }

  /** Returns the total bytes of the active snapshot; 0 if there is none. */
  long activeBytes() {
    return activeBytes;
  }

  /** Returns all loaded sets, the active one first. */
  List<SnapshotSet> sets() {
    return Stream.concat(Stream.ofNullable(active), earlier.stream())
        .map(ActiveSnapshot::set)
        .toList();
  }

  void activate(ActiveSnapshot next) {
    if (active != null) {
      earlier.addFirst(active);
    }
    active = next;
    activeBytes = next.setBytes();
    earlier.removeIf(each -> each.sequence() == next.sequence());
    while (earlier.size() > historyLength) {
      earlier.removeLast();
    }
  }

  /** Returns the active snapshot with a manifest of the same content. */
  ActiveSnapshot again(Manifest manifest, long readMillis) {
    try {
      Snapshot[] snapshots = snapshots(active.set()).toArray(Snapshot[]::new);
      return ActiveSnapshot.of(SnapshotSet.of(manifest, snapshots), readMillis);
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of the same content does not fit the set", e);
    }
  }

  void refresh(ActiveSnapshot again) {
    active = again;
  }

  Optional<ActiveSnapshot> take(long sequence) {
    Optional<ActiveSnapshot> found =
        earlier.stream().filter(each -> each.sequence() == sequence).findFirst();
    found.ifPresent(earlier::remove);
    return found;
  }

  /**
   * Returns the same set, reusing snapshots of the active set with the same content, and with the
   * others in files if there is a cache.
   */
  SnapshotSet keep(Manifest manifest, SnapshotSet loaded) throws SnapshotException {
    List<@Nullable Snapshot> snapshots = snapshots(loaded);
    for (int shard = 0; shard < snapshots.size(); shard++) {
      Snapshot snapshot = snapshots.get(shard);
      if (snapshot != null) {
        Snapshot before = active == null ? null : active.set().snapshot(shard);
        boolean isSame = before != null && hasSameContent(before.header(), snapshot.header());
        Snapshot next = isSame ? before : snapshot;
        // This also applies to the same snapshot, which may still be in memory because the disk was
        // full.
        snapshots.set(shard, cache == null ? next : cache.keep(next));
      }
    }
    return SnapshotSet.of(manifest, snapshots.toArray(Snapshot[]::new));
  }

  /** Returns the snapshots of all shards; null for a shard without a snapshot. */
  private static List<@Nullable Snapshot> snapshots(SnapshotSet set) {
    return IntStream.range(0, set.manifest().parameters().shards().count())
        .mapToObj(set::snapshot)
        .collect(Collectors.toCollection(ArrayList::new));
  }

  private static boolean hasSameContent(SnapshotHeader one, SnapshotHeader other) {
    return one.setDigest().equals(other.setDigest())
        && one.hashCount() == other.hashCount()
        && one.parameters().set().equals(other.parameters().set());
  }

  ActiveSnapshot open(CachedState state, Manifest manifest) throws SnapshotException {
    if (state.digests().size() != manifest.parameters().shards().count()) {
      throw new MalformedSnapshotException("the cache must have a line for each shard");
    }
    Snapshot[] snapshots = new Snapshot[state.digests().size()];
    for (int shard = 0; shard < snapshots.length; shard++) {
      String digest = state.digests().get(shard);
      snapshots[shard] = digest.isEmpty() ? null : cache.open(digest);
    }
    return new ActiveSnapshot(SnapshotSet.of(manifest, snapshots), state.publishedMillis());
  }

  /** Writes the active snapshot to the cache, if it can be written completely. */
  void commit(
      String topic, String topicId, long resumeOffset, ManifestOrder.@Nullable Highest highest) {
    List<Snapshot> inUse =
        sets().stream().flatMap(set -> snapshots(set).stream()).filter(Objects::nonNull).toList();
    List<String> digests = new ArrayList<>();
    for (Snapshot snapshot : snapshots(active.set())) {
      String digest = snapshot == null ? "" : cache.digest(snapshot);
      if (digest == null) {
        cache.removeUnused(inUse);
        return;
      }
      digests.add(digest);
    }
    cache.commit(
        new CachedState(
            topic,
            topicId == null ? "" : topicId,
            resumeOffset,
            active.publishedMillis(),
            highest,
            digests,
            active.manifest()),
        inUse);
  }
}
