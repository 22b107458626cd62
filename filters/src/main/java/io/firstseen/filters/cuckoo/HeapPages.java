package io.firstseen.filters.cuckoo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The pages of a filter that lives on the heap. */
public final class HeapPages implements PageStore {
  private final PageTable<CuckooPage> table;
  private final @Nullable Expiry expiry;

  /** The pages of an empty filter. */
  public HeapPages(CuckooShape shape) {
    this(shape, (Expiry) null);
  }

  /** The pages of an empty filter; the expiry of its keys is null if they do not expire. */
  public HeapPages(CuckooShape shape, @Nullable Expiry expiry) {
    this(shape, List.of(CuckooPage.first(shape, expiry)), expiry);
  }

  /** Pages that cover every prefix exactly once. */
  HeapPages(CuckooShape shape, List<CuckooPage> pages) {
    this(shape, pages, null);
  }

  private HeapPages(CuckooShape shape, List<CuckooPage> pages, @Nullable Expiry expiry) {
    this.expiry = expiry;
    int depth = 0;
    for (CuckooPage page : pages) {
      depth = Math.max(depth, page.depth());
    }
    byte[] depths = new byte[1 << depth];
    for (CuckooPage page : pages) {
      int span = 1 << (depth - page.depth());
      Arrays.fill(depths, page.prefix() * span, (page.prefix() + 1) * span, (byte) page.depth());
    }
    table = new PageTable<>(shape, PageDirectory.of(depths));
    for (CuckooPage page : pages) {
      table.set(page.firstIdentity(), page);
    }
  }

  /** Creates empty pages with room for an expected number of keys. */
  static HeapPages sized(CuckooShape shape, long expectedKeys) {
    if (expectedKeys <= IdentityListPage.MAX_COUNT) {
      return new HeapPages(shape);
    }
    int depth = 0;
    while (Repacking.widthFor(expectedKeys >> depth) > BucketPage.SPLIT_WIDTH
        && shape.canSplit(depth, 0)) {
      depth++;
    }
    int width = Math.min(Repacking.widthFor(expectedKeys >> depth), BucketPage.MAX_WIDTH);
    List<CuckooPage> pages = new ArrayList<>(1 << depth);
    for (int prefix = 0; prefix < 1 << depth; prefix++) {
      pages.add(new BucketPage(shape, depth, prefix, width, null));
    }
    return new HeapPages(shape, pages);
  }

  HeapPages copy(CuckooShape shape) {
    List<CuckooPage> copies = new ArrayList<>();
    table.forEach(page -> copies.add(page.copy()));
    return new HeapPages(shape, copies);
  }

  @Override
  public @Nullable Expiry expiry() {
    return expiry;
  }

  @Override
  public CuckooPage get(long identity) {
    return table.get(identity);
  }

  @Override
  public void put(long identity, CuckooPage page) {
    if (table.get(identity) != page) {
      table.set(identity, page);
    }
  }

  @Override
  public void split(long identity, CuckooPage low, CuckooPage high) {
    table.split(identity, low, high);
  }

  @Override
  public void merge(long identity, CuckooPage merged) {
    table.merge(identity, merged);
  }

  /** Passes every page to the visitor. */
  public void forEach(Consumer<CuckooPage> visitor) {
    table.forEach(visitor);
  }

  int pageCount() {
    return table.pageCount();
  }

  int minDepth() {
    return table.minDepth();
  }

  long directoryBytes() {
    return table.heapBytes();
  }
}
