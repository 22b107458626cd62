package io.firstseen.filters.cuckoo;

import java.util.Arrays;

/**
 * The pages of a filter, as bytes: for every prefix of the deepest page's length, the depth of its
 * page. Their number is a power of two, and the directory of one page is the single byte 0.
 * Immutable; {@link PageTable} is the form to work with.
 */
public final class PageDirectory {
  private static final PageDirectory FIRST = uniform(0);

  private final byte[] depths;

  private PageDirectory(byte[] depths) {
    this.depths = depths;
  }

  /** Returns the directory of an empty filter: one page of depth 0. */
  public static PageDirectory first() {
    return FIRST;
  }

  /** Returns all pages of one depth. */
  static PageDirectory uniform(int depth) {
    byte[] depths = new byte[1 << depth];
    Arrays.fill(depths, (byte) depth);
    return new PageDirectory(depths);
  }

  /**
   * Reads a directory from its bytes.
   *
   * @throws IllegalArgumentException if they are not the bytes of a directory
   */
  public static PageDirectory of(byte[] bytes) {
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
    return new PageDirectory(bytes.clone());
  }

  /** Returns the bytes to keep in state. */
  public byte[] toBytes() {
    return depths.clone();
  }

  /** Returns the number of pages. */
  public int pageCount() {
    int depth = Integer.numberOfTrailingZeros(depths.length);
    int count = 0;
    for (int prefix = 0; prefix < depths.length; prefix += 1 << (depth - depths[prefix])) {
      count++;
    }
    return count;
  }
}
