package io.firstseen.filters.cuckoo;

import java.util.Arrays;

/**
 * Breadth-first search for the shortest chain of moves that frees a slot (Li et al., "Algorithmic
 * Improvements for Fast Concurrent Cuckoo Hashing", EuroSys 2014, section 4.3.2).
 *
 * <p>Nothing moves until a whole chain is known, and the order of the search is fixed: the same
 * page gives the same chain, and a page without one keeps its bytes. Holds scratch space, so one
 * object serves one thread.
 */
final class PathSearch {
  /**
   * About the number of slots of full buckets that are searched before a page counts as full. A
   * page holds slightly fewer keys than it could, but growing is faster; docs/adr/0002 has the
   * figures.
   */
  private static final int MAX_SLOTS = 384;

  private static final int SLOT_SHIFT = 2 * CuckooShape.BUCKET_BITS;
  private static final int BUCKET_MASK = CuckooShape.BUCKETS - 1;

  /**
   * The reached buckets, in order. Each step holds, from the lowest bit: the bucket (9 bits), the
   * index of the step from which it was reached (9 bits), and the slot there that can move.
   */
  private final int[] steps = new int[CuckooShape.BUCKETS];

  private final long[] reached = new long[CuckooShape.BUCKETS / Long.SIZE];

  /**
   * Frees a slot in one of two full buckets.
   *
   * @return the bucket that has room now, or -1 if the search found no chain of moves
   */
  int makeRoom(BucketPage page, int bucket, int alternate) {
    Arrays.fill(reached, 0);
    reach(bucket);
    reach(alternate);
    steps[0] = bucket;
    steps[1] = alternate;
    int size = 2;
    byte[] body = page.body;
    BucketLayout layout = page.layout();
    int width = layout.width;
    int mostSteps = (MAX_SLOTS + width - 1) / width;
    for (int at = 0; at < size && at < mostSteps; at++) {
      int from = steps[at] & BUCKET_MASK;
      int movable = firstMovable(body, layout, from);
      if (movable < width) {
        return move(page, at, movable, alternate(body, layout, from, movable));
      }
      for (int i = 0; i < width && size < mostSteps; i++) {
        int to = alternate(body, layout, from, i);
        steps[size] = (i << SLOT_SHIFT) | (at << CuckooShape.BUCKET_BITS) | to;
        // The next step takes its place if the bucket was reached before.
        size += (int) (~reached[to >>> 6] >>> to) & 1;
        reach(to);
      }
    }
    return -1;
  }

  /**
   * Returns the first slot of a full bucket that can move to a bucket with room; the width if there
   * is none. Looks at all slots, because a branch at each would be unpredictable.
   */
  private static int firstMovable(byte[] body, BucketLayout layout, int from) {
    int last = layout.width - 1;
    int movable = layout.width;
    for (int i = last; i >= 0; i--) {
      long lastSlot = layout.get(body, alternate(body, layout, from, i), last);
      movable = lastSlot == 0 ? i : movable;
    }
    return movable;
  }

  private static int alternate(byte[] body, BucketLayout layout, int bucket, int i) {
    return BucketPairs.alternate(bucket, (int) layout.get(body, bucket, i) & CuckooShape.CORE_MASK);
  }

  private void reach(int bucket) {
    reached[bucket >>> 6] |= 1L << bucket;
  }

  private int move(BucketPage page, int last, int slotOfLast, int room) {
    page.unshareBody();
    int at = last;
    int i = slotOfLast;
    int to = room;
    while (true) {
      int step = steps[at];
      int from = step & BUCKET_MASK;
      page.move(from, i, to);
      if (at < 2) {
        return from;
      }
      to = from;
      i = step >>> SLOT_SHIFT;
      at = (step >>> CuckooShape.BUCKET_BITS) & BUCKET_MASK;
    }
  }
}
