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
   * Full buckets that are searched before a page counts as full. A page takes a little less than it
   * could (0.97 instead of 0.98 at four slots a bucket), for half the time of growing.
   */
  static final int MAX_SEARCHED = 128;

  private final int[] buckets = new int[CuckooShape.BUCKETS];
  private final int[] parents = new int[CuckooShape.BUCKETS];
  private final int[] slotsOfParent = new int[CuckooShape.BUCKETS];
  private final long[] reached = new long[CuckooShape.BUCKETS / Long.SIZE];
  private int size;

  /**
   * Frees a slot in one of two full buckets.
   *
   * @return the bucket that has room now, or -1 if the search found no chain of moves
   */
  int makeRoom(BucketPage page, int bucket, int alternate) {
    Arrays.fill(reached, 0);
    size = 0;
    reach(bucket, -1, 0);
    reach(alternate, -1, 0);
    int width = page.width();
    for (int at = 0; at < Math.min(size, MAX_SEARCHED); at++) {
      int from = buckets[at];
      for (int i = 0; i < width; i++) {
        int to = page.alternate(from, i);
        if ((reached[to >>> 6] & 1L << to) != 0) {
          continue;
        }
        if (page.hasRoom(to)) {
          return move(page, at, i, to);
        }
        reach(to, at, i);
      }
    }
    return -1;
  }

  private void reach(int bucket, int parent, int slotOfParent) {
    reached[bucket >>> 6] |= 1L << bucket;
    buckets[size] = bucket;
    parents[size] = parent;
    slotsOfParent[size] = slotOfParent;
    size++;
  }

  private int move(BucketPage page, int last, int slotOfLast, int room) {
    page.own();
    int at = last;
    int i = slotOfLast;
    int to = room;
    while (true) {
      int from = buckets[at];
      page.move(from, i, to);
      if (parents[at] < 0) {
        return from;
      }
      to = from;
      i = slotsOfParent[at];
      at = parents[at];
    }
  }
}
