package io.firstseen.filters.cuckoo;

import java.util.List;
import java.util.function.Consumer;

/**
 * Pages in an extendible directory: an array over the leading bits of identities, in which a page
 * of lesser depth than the deepest one stands several times.
 */
final class HeapPages implements PageStore {
  private final CuckooShape shape;
  private CuckooPage[] directory;
  private int directoryDepth;
  private int shift;
  long count;

  HeapPages(CuckooShape shape) {
    this.shape = shape;
    this.directory = new CuckooPage[] {CuckooPage.first(shape)};
    this.shift = shape.identityBits();
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
        pages.place(new BucketPage(shape, depth, prefix, width));
      }
    }
    return pages;
  }

  HeapPages copy() {
    HeapPages copy = new HeapPages(this);
    forEach(page -> copy.place(page.copy()));
    return copy;
  }

  @Override
  public CuckooPage get(long identity) {
    return directory[(int) (identity >>> shift)];
  }

  @Override
  public void put(long identity, CuckooPage page) {
    if (directory[(int) (identity >>> shift)] != page) {
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
      CuckooPage[] deeper = new CuckooPage[directory.length * 2];
      for (int i = 0; i < deeper.length; i++) {
        deeper[i] = directory[i >> 1];
      }
      directory = deeper;
      directoryDepth++;
      shift--;
    }
    int span = 1 << (directoryDepth - page.depth());
    for (int i = 0; i < span; i++) {
      directory[page.prefix() * span + i] = page;
    }
  }

  void forEach(Consumer<CuckooPage> visitor) {
    for (int i = 0; i < directory.length; i += 1 << (directoryDepth - directory[i].depth())) {
      visitor.accept(directory[i]);
    }
  }

  long directoryBytes() {
    return 16 + 4L * directory.length;
  }
}
