package io.firstseen.filters.snapshot;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The blobs with which a reader gets from a set that it holds, or from nothing, to the newest set
 * of a shard. The plan has the fewest bytes; of several such plans, it has the fewest blobs.
 *
 * @param blobs the blobs to fetch and apply, in order. If the first one is a snapshot, it replaces
 *     the held one; all others are deltas. Empty if the newest set is held, or if the shard never
 *     held a key
 */
public record CatchUpPlan(List<BlobReference> blobs) {

  /** Copies the list. */
  public CatchUpPlan {
    blobs = List.copyOf(blobs);
  }

  /**
   * Finds the plan, in time O(n log n) for a chain of n deltas.
   *
   * @param heldSetDigest the {@link SnapshotHeader#setDigest} of the snapshot of this shard that
   *     the reader holds; ignored if the set is not on the chain
   */
  public static CatchUpPlan of(ManifestShard shard, Optional<String> heldSetDigest) {
    if (shard.base() == null) {
      return new CatchUpPlan(List.of());
    }
    Map<String, List<BlobReference>> onwards = new HashMap<>();
    for (BlobReference delta : shard.deltas()) {
      onwards.computeIfAbsent(delta.parentSetDigest(), set -> new ArrayList<>()).add(delta);
    }
    // Dijkstra's shortest path: sets are nodes, deltas are edges. A chain may return to an earlier
    // set, so there can be several paths.
    PriorityQueue<Way> open = new PriorityQueue<>();
    heldSetDigest.ifPresent(held -> open.add(new Way(held, null, null, 0, 0)));
    open.add(new Way(shard.base().setDigest(), null, shard.base(), shard.base().bytes(), 1));
    Map<String, Way> shortest = new HashMap<>();
    String newest = shard.newest().setDigest();
    while (!shortest.containsKey(newest)) {
      Way way = open.remove();
      if (shortest.putIfAbsent(way.set, way) == null) {
        for (BlobReference delta : onwards.getOrDefault(way.set, List.of())) {
          open.add(
              new Way(delta.setDigest(), way, delta, way.bytes + delta.bytes(), way.blobCount + 1));
        }
      }
    }
    Deque<BlobReference> blobs = new ArrayDeque<>();
    for (Way way = shortest.get(newest); way != null && way.last != null; way = way.before) {
      blobs.addFirst(way.last);
    }
    return new CatchUpPlan(List.copyOf(blobs));
  }

  /** The number of bytes to fetch. */
  public long bytes() {
    return blobs.stream().mapToLong(BlobReference::bytes).sum();
  }

  /** Whether the first blob to apply is a delta, which needs the held snapshot. */
  public boolean changesHeld() {
    return !blobs.isEmpty() && blobs.get(0).isDelta();
  }

  /**
   * A path to a set.
   *
   * @param before the path without the last blob; null at the start
   * @param last the blob that leads to the set; null if the reader holds the set
   */
  private record Way(
      String set, @Nullable Way before, @Nullable BlobReference last, long bytes, int blobCount)
      implements Comparable<Way> {
    private static final Comparator<Way> ORDER =
        Comparator.comparingLong(Way::bytes).thenComparingInt(Way::blobCount);

    @Override
    public int compareTo(Way other) {
      return ORDER.compare(this, other);
    }
  }
}
