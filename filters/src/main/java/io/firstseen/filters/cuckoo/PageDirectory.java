package io.firstseen.filters.cuckoo;

import java.util.Arrays;

/**
 * Which pages a filter has, for stores that keep pages by number: immutable, a split gives a new
 * one.
 *
 * <p>Its bytes are the depth of the page of every prefix of the deepest page's length, so their
 * number is a power of two and a directory of one page is the single byte 0.
 */
public final class PageDirectory {
  private final CuckooShape shape;
  private final byte[] depths;
  private final int depth;

  private PageDirectory(CuckooShape shape, byte[] depths) {
    this.shape = shape;
    this.depths = depths;
    this.depth = Integer.numberOfTrailingZeros(depths.length);
  }

  /** The directory of an empty filter: one page of depth 0. */
  public static PageDirectory first(CuckooShape shape) {
    return new PageDirectory(shape, new byte[1]);
  }

  /**
   * Reads a directory from its bytes.
   *
   * @throws IllegalArgumentException if they are not those of a directory
   */
  public static PageDirectory of(CuckooShape shape, byte[] bytes) {
    if (Integer.bitCount(bytes.length) != 1) {
      throw new IllegalArgumentException(
          "a page directory's length must be a power of two, got " + bytes.length);
    }
    int depth = Integer.numberOfTrailingZeros(bytes.length);
    for (int prefix = 0; prefix < bytes.length; ) {
      int span = bytes[prefix] < 0 || bytes[prefix] > depth ? 0 : 1 << (depth - bytes[prefix]);
      if (span == 0 || prefix % span != 0) {
        throw new IllegalArgumentException("a page directory has no page for prefix " + prefix);
      }
      for (int i = 0; i < span; i++) {
        if (bytes[prefix + i] != bytes[prefix]) {
          throw new IllegalArgumentException("a page directory has two pages for a prefix");
        }
      }
      prefix += span;
    }
    return new PageDirectory(shape, bytes.clone());
  }

  /** The bytes to keep in state. */
  public byte[] toBytes() {
    return depths.clone();
  }

  /** Number of prefixes of the deepest page's length, a power of two. */
  public int size() {
    return depths.length;
  }

  /** The prefix of an identity, in [0, size). */
  public int indexOf(long identity) {
    return shape.prefix(identity, depth);
  }

  /** The number of the page that an identity belongs to, as {@link CuckooPage#id} gives it. */
  public int idOf(long identity) {
    int pageDepth = depths[indexOf(identity)];
    return 1 << pageDepth | shape.prefix(identity, pageDepth);
  }

  /** The lowest identity of the page after that of an identity; 0 if that is the last. */
  public long nextPage(long identity) {
    int pageDepth = depths[indexOf(identity)];
    int next = shape.prefix(identity, pageDepth) + 1;
    return next == 1 << pageDepth ? 0 : shape.firstIdentity(next, pageDepth);
  }

  /** Number of pages. */
  public int pageCount() {
    int count = 0;
    for (int index = 0; index < depths.length; index += 1 << (depth - depths[index])) {
      count++;
    }
    return count;
  }

  /** The directory after the page of an identity was split. */
  public PageDirectory split(long identity) {
    int split = depths[shape.prefix(identity, depth)];
    int deeper = Math.max(depth, split + 1);
    byte[] next = new byte[1 << deeper];
    for (int prefix = 0; prefix < next.length; prefix++) {
      next[prefix] = depths[prefix >>> (deeper - depth)];
    }
    int span = 1 << (deeper - split);
    int from = shape.prefix(identity, split) * span;
    Arrays.fill(next, from, from + span, (byte) (split + 1));
    return new PageDirectory(shape, next);
  }
}
