package io.firstseen.filters.cuckoo;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * An extendible directory: finds what stands for a page by the leading bits of an identity (Fagin
 * et al., "Extendible Hashing", 1979). A page of lesser depth than the deepest one fills several
 * places.
 *
 * @param <E> what stands for a page: the page itself, or what a store keeps of it; null where there
 *     is nothing yet
 */
public final class PageTable<E> {
  private final CuckooShape shape;
  private Object[] entries;
  private byte[] depths;
  private int depth;
  private int shift;
  private int pageCount;

  /** A table with nothing in it for the pages of a directory. */
  public PageTable(CuckooShape shape, PageDirectory directory) {
    this.shape = shape;
    this.depths = directory.toBytes();
    this.entries = new Object[depths.length];
    this.depth = Integer.numberOfTrailingZeros(depths.length);
    this.shift = shape.identityBits() - depth;
    this.pageCount = directory.pageCount();
  }

  /** What stands for the page of an identity, or null. */
  @SuppressWarnings("unchecked") // Only an E is ever set.
  public E get(long identity) {
    return (E) entries[(int) (identity >>> shift)];
  }

  /** Lets something, or null, stand for the page of an identity. */
  public void set(long identity, E entry) {
    int pageDepth = depthOf(identity);
    int span = 1 << (depth - pageDepth);
    int from = shape.prefix(identity, pageDepth) * span;
    Arrays.fill(entries, from, from + span, entry);
  }

  /** Replaces the page of an identity by the two that it was split into. */
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

  /** Visits what stands for the pages, in the order of their prefixes; not where it is null. */
  public void forEach(Consumer<? super E> visitor) {
    for (int i = 0; i < entries.length; i += 1 << (depth - depths[i])) {
      @SuppressWarnings("unchecked") // Only an E is ever set.
      E entry = (E) entries[i];
      if (entry != null) {
        visitor.accept(entry);
      }
    }
  }

  /** The depth of the page of an identity. */
  private int depthOf(long identity) {
    return depths[(int) (identity >>> shift)];
  }

  /** The number of the page of an identity, as {@link CuckooPage#id} gives it. */
  public int idOf(long identity) {
    int pageDepth = depthOf(identity);
    return 1 << pageDepth | shape.prefix(identity, pageDepth);
  }

  /** The lowest identity of the page after that of an identity; 0 if that is the last. */
  public long nextPage(long identity) {
    int pageDepth = depthOf(identity);
    int next = shape.prefix(identity, pageDepth) + 1;
    return next == 1 << pageDepth ? 0 : shape.firstIdentity(next, pageDepth);
  }

  /** Number of pages. */
  public int pageCount() {
    return pageCount;
  }

  /** The depth of the page of the least depth. */
  int minDepth() {
    int min = depth;
    for (byte pageDepth : depths) {
      min = Math.min(min, pageDepth);
    }
    return min;
  }

  /** The pages as bytes. */
  public PageDirectory directory() {
    return PageDirectory.of(depths);
  }

  /** Bytes on the heap without what stands for the pages, for compressed object pointers. */
  long heapBytes() {
    return 2 * 16 + (4L + 1) * entries.length;
  }
}
