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

/**
 * How a reader gets to the newest set of a shard with the fewest bytes, from a set that it holds or
 * from nothing; of several such ways, the one of the fewest blobs.
 *
 * @param blobs what to fetch and apply, in order: if the first one is a snapshot, it takes the
 *     place of what is held; all others are deltas. Empty if the newest set is held, or if the
 *     shard never held a key
 */
public record CatchUpPlan(List<BlobReference> blobs) {

  /** Copies the list. */
  public CatchUpPlan {
    blobs = List.copyOf(blobs);
  }

  /**
   * Finds the plan. Takes time in proportion to the length of the chain, but for a logarithm.
   *
   * @param heldSetDigest the {@link SnapshotHeader#setDigest} of the snapshot of this shard that
   *     the reader holds; one that is not on the chain is as good as none
   */
  public static CatchUpPlan of(ManifestShard shard, Optional<String> heldSetDigest) {
    if (shard.base() == null) {
      return new CatchUpPlan(List.of());
    }
    Map<String, List<BlobReference>> onwards = new HashMap<>();
    for (BlobReference delta : shard.deltas()) {
      onwards.computeIfAbsent(delta.parentSetDigest(), set -> new ArrayList<>()).add(delta);
    }
    // Dijkstra's shortest path: sets are places, deltas ways between them. A chain may come back to
    // a set, so that there can be several ways.
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

  /** How many bytes are to be fetched. */
  public long bytes() {
    return blobs.stream().mapToLong(BlobReference::bytes).sum();
  }

  /** Whether the first blob to apply is a delta, which changes what is held. */
  public boolean changesHeld() {
    return !blobs.isEmpty() && blobs.get(0).isDelta();
  }

  /**
   * A way to a set.
   *
   * @param before the way that it prolongs; null at its beginning
   * @param last the blob that leads to the set; null for one that is held
   */
  private record Way(String set, Way before, BlobReference last, long bytes, int blobCount)
      implements Comparable<Way> {
    private static final Comparator<Way> ORDER =
        Comparator.comparingLong(Way::bytes).thenComparingInt(Way::blobCount);

    @Override
    public int compareTo(Way other) {
      return ORDER.compare(this, other);
    }
  }
}
