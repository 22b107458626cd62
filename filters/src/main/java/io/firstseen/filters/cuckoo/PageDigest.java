package io.firstseen.filters.cuckoo;

import org.jspecify.annotations.Nullable;

/**
 * The identities of a page that is not in memory, in about one to five bits each. Most new keys can
 * be inserted by it without reading the page; their insertions are then in the log alone. A Bloom
 * filter with one hash function (Bloom 1970).
 */
public final class PageDigest {
  /** A smaller digest contains nearly all identities. */
  public static final int MIN_BITS = 1 << 10;

  /** A larger digest saves few reads more. */
  public static final int MAX_BITS = 1 << 14;

  /** The bytes on the heap in addition to the bits, with an entry of a hash table. */
  public static final int OVERHEAD_BYTES = 96;

  private final long[] words;
  private int room;

  private PageDigest(int bits) {
    words = new long[bits / Long.SIZE];
  }

  /**
   * Creates the digest of a page.
   *
   * @param bits the maximum number of bits, a multiple of 64, in [{@value #MIN_BITS}, {@value
   *     #MAX_BITS}]
   * @return null if no insertion may stay in the log alone, or slots have too few bits
   */
  public static @Nullable PageDigest of(CuckooPage page, int bits) {
    int slotBits = Math.min(page.shape.slotBits(page.depth), Integer.SIZE - 2);
    if (page.deferrable() == 0 || 1 << slotBits < MIN_BITS) {
      return null;
    }
    PageDigest digest = new PageDigest(Math.min(bits, 1 << slotBits));
    ((BucketPage) page).forEachIdentity(digest::add);
    return digest;
  }

  /** Adapts the digest to a page that holds its identities, before the page is dropped. */
  public void dropped(CuckooPage page) {
    room = page.deferrable();
  }

  /** Adds an identity that was inserted into the page. */
  public void add(long identity) {
    int at = at(identity);
    words[at / Long.SIZE] |= 1L << at;
  }

  /** Returns whether the page does not hold an identity; false if that is unknown. */
  public boolean lacks(long identity) {
    int at = at(identity);
    return (words[at / Long.SIZE] >>> at & 1) == 0;
  }

  /** Adds an identity if the page lacks it, and its insertion may stay pending. */
  public boolean insert(long identity) {
    if (room == 0 || !lacks(identity)) {
      return false;
    }
    add(identity);
    room--;
    return true;
  }

  /** Both identities of a pair have the same bit, because it does not depend on the bucket. */
  private int at(long identity) {
    int hash = (int) (identity >>> CuckooShape.BUCKET_BITS) * 0x9E3779B1;
    return (int) ((Integer.toUnsignedLong(hash) * bits()) >>> Integer.SIZE);
  }

  /** Returns the number of bits. */
  public int bits() {
    return words.length * Long.SIZE;
  }

  /** Returns the number of bytes on the heap. */
  public int heapBytes() {
    return OVERHEAD_BYTES + Long.BYTES * words.length;
  }
}
