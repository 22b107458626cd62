package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Pages in an extendible directory: an array over the leading bits of identities, in which a page
 * of lesser depth than the deepest one stands several times.
 *
 * <p>Bodies and layouts stand in arrays of their own, so that an operation goes from the array to
 * the bucket and not by way of the page's object, which in a large filter is not in the cache. So
 * does what was inserted in place less what was deleted, which a page's own count gets when the
 * page is asked for.
 */
final class HeapPages implements PageStore {
  private static final short CLOSED = Short.MIN_VALUE;

  private final CuckooShape shape;
  private CuckooPage[] directory;
  private byte[][] bodies;
  private BucketLayout[] layouts;

  /**
   * Insertions in place less deletions that are not in the count of the page, which gets the sum of
   * all its entries. {@link #CLOSED} where nothing may be done in place: lists, pages that share
   * their bytes with a copy, and until the next {@link #put} those that were given away and may.
   */
  private short[] uncounted;

  private int directoryDepth;
  private int shift;
  long count;

  HeapPages(CuckooShape shape) {
    this.shape = shape;
    this.directory = new CuckooPage[1];
    this.bodies = new byte[1][];
    this.layouts = new BucketLayout[1];
    this.uncounted = new short[1];
    this.shift = shape.identityBits();
    place(CuckooPage.first(shape));
  }

  /** Pages that cover every prefix exactly once. */
  HeapPages(CuckooShape shape, List<CuckooPage> pages) {
    this(shape);
    for (CuckooPage page : pages) {
      place(page);
      count += page.count();
    }
  }

  private HeapPages(HeapPages other) {
    this.shape = other.shape;
    this.directory = new CuckooPage[other.directory.length];
    this.bodies = new byte[other.directory.length][];
    this.layouts = new BucketLayout[other.directory.length];
    this.uncounted = new short[other.directory.length];
    this.directoryDepth = other.directoryDepth;
    this.shift = other.shift;
    this.count = other.count;
  }

  /** Empty pages in which an expected number of keys finds room. */
  static HeapPages sized(CuckooShape shape, long expectedKeys) {
    HeapPages pages = new HeapPages(shape);
    if (expectedKeys > IdentityListPage.MAX_COUNT) {
      int depth = 0;
      while (BucketPage.widthFor(expectedKeys >> depth) > BucketPage.SPLIT_WIDTH
          && shape.canSplit(depth)) {
        depth++;
      }
      int width = Math.min(BucketPage.widthFor(expectedKeys >> depth), BucketPage.MAX_WIDTH);
      for (int prefix = 0; prefix < 1 << depth; prefix++) {
        pages.place(new BucketPage(shape, depth, prefix, width, null));
      }
    }
    return pages;
  }

  HeapPages copy() {
    HeapPages copy = new HeapPages(this);
    giveEach(page -> copy.place(page.copy()));
    return copy;
  }

  @Override
  public CuckooPage get(long identity) {
    return counted((int) (identity >>> shift));
  }

  boolean contains(long identity) {
    int at = (int) (identity >>> shift);
    BucketLayout layout = layouts[at];
    return layout == null
        ? directory[at].contains(identity)
        : layout.contains(bodies[at], identity);
  }

  /**
   * Inserts an identity that is not held, if its page is a table whose bytes no copy shares and a
   * slot is free at hand; does nothing otherwise. What {@link PagedFilter} would do, in fewer
   * steps.
   */
  boolean insertInPlace(long identity) {
    int at = (int) (identity >>> shift);
    if (uncounted[at] == CLOSED) {
      return false;
    }
    byte[] body = bodies[at];
    BucketLayout layout = layouts[at];
    int room = layout.room(body, identity);
    if (room < 0) {
      return false;
    }
    BitFields.flip(body, room, layout.slotOf(identity));
    uncounted[at]++;
    count++;
    return true;
  }

  /** Deletes one copy of an identity under the same conditions. */
  boolean deleteInPlace(long identity) {
    int at = (int) (identity >>> shift);
    if (uncounted[at] == CLOSED || !layouts[at].take(bodies[at], identity)) {
      return false;
    }
    uncounted[at]--;
    count--;
    return true;
  }

  @Override
  public void put(long identity, CuckooPage page) {
    int at = (int) (identity >>> shift);
    if (directory[at] != page || bodies[at] != page.body || uncounted[at] == CLOSED) {
      place(page);
    }
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    place(low);
    place(high);
  }

  /** Lets a page stand for its prefix, deepening the directory where it must. */
  void place(CuckooPage page) {
    while (directoryDepth < page.depth()) {
      int size = directory.length * 2;
      CuckooPage[] deeper = new CuckooPage[size];
      byte[][] deeperBodies = new byte[size][];
      BucketLayout[] deeperLayouts = new BucketLayout[size];
      short[] deeperUncounted = new short[size];
      for (int i = 0; i < size; i++) {
        deeper[i] = directory[i >> 1];
        deeperBodies[i] = bodies[i >> 1];
        deeperLayouts[i] = layouts[i >> 1];
        deeperUncounted[i] = (i & 1) == 0 || uncounted[i >> 1] == CLOSED ? uncounted[i >> 1] : 0;
      }
      directory = deeper;
      bodies = deeperBodies;
      layouts = deeperLayouts;
      uncounted = deeperUncounted;
      directoryDepth++;
      shift--;
    }
    int span = span(page);
    int from = page.prefix() * span;
    BucketLayout layout = page.layout();
    Arrays.fill(directory, from, from + span, page);
    Arrays.fill(bodies, from, from + span, page.body);
    Arrays.fill(layouts, from, from + span, layout);
    if (layout == null || page.isShared()) {
      Arrays.fill(uncounted, from, from + span, CLOSED);
    } else if (uncounted[from] == CLOSED) {
      Arrays.fill(uncounted, from, from + span, (short) 0);
    }
  }

  /** In how many entries of the directory a page stands. */
  private int span(CuckooPage page) {
    return 1 << (directoryDepth - page.depth());
  }

  /** The page of an entry of the directory, its count made true. */
  private CuckooPage counted(int at) {
    CuckooPage page = directory[at];
    int span = span(page);
    int from = page.prefix() * span;
    for (int i = from; i < from + span && uncounted[i] != CLOSED; i++) {
      page.count += uncounted[i];
      uncounted[i] = 0;
    }
    return page;
  }

  /** The depth of the page of the least depth. */
  int leastDepth() {
    int[] least = {directoryDepth};
    forEach(page -> least[0] = Math.min(least[0], page.depth()));
    return least[0];
  }

  /** For visitors that may copy a page, at once or later, but before the next change. */
  void giveEach(Consumer<CuckooPage> visitor) {
    forEach(
        page -> {
          Arrays.fill(
              uncounted, page.prefix() * span(page), (page.prefix() + 1) * span(page), CLOSED);
          visitor.accept(page);
        });
  }

  /** For visitors that only look at a page. */
  void forEach(Consumer<CuckooPage> visitor) {
    for (int i = 0; i < directory.length; ) {
      CuckooPage page = counted(i);
      visitor.accept(page);
      i += span(page);
    }
  }

  long directoryBytes() {
    return 4 * 16 + (4L + 4 + 4 + 2) * directory.length;
  }
}
