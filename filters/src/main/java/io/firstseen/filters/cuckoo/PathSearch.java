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
    for (int at = 0; at < size && at * width < MAX_SLOTS; at++) {
      int from = steps[at] & BUCKET_MASK;
      int bit = from * layout.bucketBits;
      for (int i = 0; i < width; i++) {
        int core = (int) BitFields.word(body, bit) & CuckooShape.CORE_MASK;
        bit += layout.slotBits;
        int to = BucketPairs.alternate(from, core);
        if ((reached[to >>> 6] & 1L << to) != 0) {
          continue;
        }
        if (layout.get(body, to, width - 1) == 0) {
          return move(page, at, i, to);
        }
        reach(to);
        steps[size] = (i << SLOT_SHIFT) | (at << CuckooShape.BUCKET_BITS) | to;
        size++;
      }
    }
    return -1;
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
