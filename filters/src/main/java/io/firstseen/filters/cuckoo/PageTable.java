package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An extendible directory: finds the entry of a page by the leading bits of an identity (Fagin et
 * al., "Extendible Hashing", 1979). A page that is less deep than the deepest one fills several
 * places.
 *
 * @param <E> the entry of a page: the page itself, or an object of the store; null if there is none
 *     yet
 */
public final class PageTable<E> {
  private final CuckooShape shape;
  private Object[] entries;
  private byte[] depths;
  private int depth;
  private int shift;
  private int pageCount;
  private final int[] pagesOfDepth = new int[CuckooShape.MAX_DEPTH + 1];

  /** Creates a table without entries for the pages of a directory. */
  public PageTable(CuckooShape shape, PageDirectory directory) {
    this.shape = shape;
    this.depths = directory.toBytes();
    this.entries = new Object[depths.length];
    this.depth = Integer.numberOfTrailingZeros(depths.length);
    this.shift = shape.identityBits() - depth;
    this.pageCount = directory.pageCount();
    for (int i = 0; i < depths.length; i += 1 << (depth - depths[i])) {
      pagesOfDepth[depths[i]]++;
    }
  }

  /** The entry of an identity's page, or null. */
  @SuppressWarnings("unchecked") // Only an E is ever set.
  public @Nullable E get(long identity) {
    return (E) entries[(int) (identity >>> shift)];
  }

  /** Sets the entry of an identity's page; may be null. */
  public void set(long identity, @Nullable E entry) {
    int pageDepth = depthOf(identity);
    int span = 1 << (depth - pageDepth);
    int from = shape.prefix(identity, pageDepth) * span;
    Arrays.fill(entries, from, from + span, entry);
  }

  /** Replaces the page of an identity by the two pages that it was split into. */
  public void split(long identity, E low, E high) {
    int pageDepth = depthOf(identity);
    if (pageDepth == depth) {
      deepen();
    }
    int half = 1 << (depth - pageDepth - 1);
    int from = shape.prefix(identity, pageDepth) * 2 * half;
    Arrays.fill(depths, from, from + 2 * half, (byte) (pageDepth + 1));
    Arrays.fill(entries, from, from + half, low);
    Arrays.fill(entries, from + half, from + 2 * half, high);
    pageCount++;
    pagesOfDepth[pageDepth]--;
    pagesOfDepth[pageDepth + 1] += 2;
  }

  /** Replaces the page of an identity and its sibling by the page that they were merged into. */
  public void merge(long identity, E merged) {
    int pageDepth = depthOf(identity) - 1;
    int span = 1 << (depth - pageDepth);
    int from = shape.prefix(identity, pageDepth) * span;
    Arrays.fill(depths, from, from + span, (byte) pageDepth);
    Arrays.fill(entries, from, from + span, merged);
    pageCount--;
    pagesOfDepth[pageDepth + 1] -= 2;
    pagesOfDepth[pageDepth]++;
    while (pagesOfDepth[depth] == 0) {
      flatten();
    }
  }

  private void flatten() {
    Object[] flatter = new Object[entries.length / 2];
    byte[] flatterDepths = new byte[flatter.length];
    for (int i = 0; i < flatter.length; i++) {
      flatter[i] = entries[2 * i];
      flatterDepths[i] = depths[2 * i];
    }
    entries = flatter;
    depths = flatterDepths;
    depth--;
    shift++;
  }

  private void deepen() {
    Object[] deeper = new Object[2 * entries.length];
    byte[] deeperDepths = new byte[2 * entries.length];
    for (int i = 0; i < deeper.length; i++) {
      deeper[i] = entries[i >> 1];
      deeperDepths[i] = depths[i >> 1];
    }
    entries = deeper;
    depths = deeperDepths;
    depth++;
    shift--;
  }

  /** Visits the entries that are not null, in the order of their pages' prefixes. */
  public void forEach(Consumer<? super E> visitor) {
    for (int i = 0; i < entries.length; i += 1 << (depth - depths[i])) {
      @SuppressWarnings("unchecked") // Only an E is ever set.
      E entry = (E) entries[i];
      if (entry != null) {
        visitor.accept(entry);
      }
    }
  }

  /** Returns whether every page has an entry. */
  public boolean isFull() {
    for (Object entry : entries) {
      if (entry == null) {
        return false;
      }
    }
    return true;
  }

  /** Returns the depth of the page of an identity. */
  private int depthOf(long identity) {
    return depths[(int) (identity >>> shift)];
  }

  /** Returns the number of the page of an identity, as {@link CuckooPage#id} gives it. */
  public int idOf(long identity) {
    int pageDepth = depthOf(identity);
    return 1 << pageDepth | shape.prefix(identity, pageDepth);
  }

  /**
   * Returns a lower bound of the identities of the page that follows the page of an identity; 0
   * after the last page.
   */
  public long nextPage(long identity) {
    int pageDepth = depthOf(identity);
    int next = shape.prefix(identity, pageDepth) + 1;
    return next == 1 << pageDepth ? 0 : shape.firstIdentity(next, pageDepth);
  }

  /** Returns the number of pages. */
  public int pageCount() {
    return pageCount;
  }

  /** Returns the lowest depth of a page. */
  public int minDepth() {
    int min = 0;
    while (pagesOfDepth[min] == 0) {
      min++;
    }
    return min;
  }

  /** Returns the pages as bytes. */
  public PageDirectory directory() {
    return PageDirectory.of(depths);
  }

  /**
   * Returns the number of bytes on the heap without the entries, for compressed object pointers.
   */
  long heapBytes() {
    return 2 * 16 + (4L + 1) * entries.length;
  }
}
