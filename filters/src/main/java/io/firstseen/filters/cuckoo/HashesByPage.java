package io.firstseen.filters.cuckoo;

import java.util.function.IntSupplier;
import java.util.function.LongConsumer;

/**
 * Visits many hashes page by page; the hashes of one page keep their order.
 *
 * <p>Operations on different pages do not touch each other, so the order between pages is free; an
 * operation whose page was just used finds it in the processor's cache.
 */
final class HashesByPage {
  /**
   * The number of hashes that are ordered at a time: large enough that each page receives dozens of
   * hashes.
   */
  private static final int MAX_HASHES = 1 << 20;

  /** The maximum number of parts. More parts take longer to fill than they save. */
  private static final int MAX_BITS = 11;

  /** About as many keys as a page takes. */
  private static final int KEYS_OF_A_PAGE = 2048;

  private HashesByPage() {}

  /**
   * Visits hashes.
   *
   * @param leastDepth returns the lowest depth of a page; called again after some hashes, because
   *     pages split
   */
  static void forEach(long[] hashes, IntSupplier leastDepth, LongConsumer action) {
    long[] ordered = new long[Math.min(hashes.length, MAX_HASHES)];
    int to = 0;
    while (to < hashes.length) {
      int from = to;
      int bits = Math.min(leastDepth.getAsInt(), MAX_BITS);
      // Few pages fit in the cache anyway, and they will soon split; so fewer hashes are ordered
      // at a time.
      int most = Math.min(MAX_HASHES, (1 << bits) * KEYS_OF_A_PAGE);
      to = Math.min(hashes.length - from, most) + from;
      order(hashes, from, to, bits, ordered);
      for (int i = 0; i < to - from; i++) {
        action.accept(ordered[i]);
      }
    }
  }

  /** Sorts by leading bits; the sort is stable. */
  private static void order(long[] hashes, int from, int to, int bits, long[] into) {
    int[] next = new int[(1 << bits) + 1];
    for (int i = from; i < to; i++) {
      next[part(hashes[i], bits) + 1]++;
    }
    for (int part = 0; part < 1 << bits; part++) {
      next[part + 1] += next[part];
    }
    for (int i = from; i < to; i++) {
      into[next[part(hashes[i], bits)]++] = hashes[i];
    }
  }

  private static int part(long hash, int bits) {
    // A shift by 64 would do nothing.
    return (int) (hash >>> 1 >>> (Long.SIZE - 1 - bits));
  }
}
