package io.firstseen.benchmarks.cuckoo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Bits of a byte array, lowest first, that move up and down. The array must have {@value #SPARE}
 * bytes behind the last bit.
 */
final class BitVector {
  static final int SPARE = Long.BYTES;

  /** The most bits that one load from a byte address is sure to cover. */
  static final int MAX_BITS = 57;

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final byte[] SELECT_IN_BYTE = new byte[256 * Byte.SIZE];

  static {
    for (int value = 0; value < 256; value++) {
      int found = 0;
      for (int bit = 0; bit < Byte.SIZE; bit++) {
        if ((value >>> bit & 1) == 1) {
          SELECT_IN_BYTE[found++ << 8 | value] = (byte) bit;
        }
      }
    }
  }

  private BitVector() {}

  /** The bits from a position on; only the low {@value #MAX_BITS} are sure to be valid. */
  static long word(byte[] bits, int position) {
    return (long) WORD.get(bits, position >>> 3) >>> (position & 7);
  }

  static long get(byte[] bits, int position, int length) {
    return word(bits, position) & ((1L << length) - 1);
  }

  static void set(byte[] bits, int position, int length, long value) {
    int index = position >>> 3;
    int shift = position & 7;
    long word = (long) WORD.get(bits, index);
    WORD.set(bits, index, (word & ~(((1L << length) - 1) << shift)) | (value << shift));
  }

  /** Moves the bits of [from, to) up by 1 to 56 places. The bits that they move to must be 0. */
  static void moveUp(byte[] bits, int from, int to, int by) {
    int first = from >>> 6 << 3;
    int rest = Long.SIZE - by;
    int at = (to + by - 1) >>> 6 << 3;
    long word = (long) WORD.get(bits, at);
    for (; at > first + Long.BYTES; at -= Long.BYTES) {
      long below = (long) WORD.get(bits, at - Long.BYTES);
      WORD.set(bits, at, word << by | below >>> rest);
      word = below;
    }
    long kept = (1L << from) - 1;
    long lowest = (long) WORD.get(bits, first);
    if (at > first) {
      WORD.set(bits, at, word << by | (lowest & ~kept) >>> rest);
    }
    WORD.set(bits, first, (lowest & kept) | (lowest & ~kept) << by);
  }

  /** Moves the bits of [from + by, to) down by 1 to 56 places; those that they leave become 0. */
  static void moveDown(byte[] bits, int from, int to, int by) {
    int at = from >>> 6 << 3;
    int last = (to - 1) >>> 6 << 3;
    int rest = Long.SIZE - by;
    long kept = (1L << from) - 1;
    long word = (long) WORD.get(bits, at);
    long low = word & kept;
    for (; at < last; at += Long.BYTES) {
      long above = (long) WORD.get(bits, at + Long.BYTES);
      WORD.set(bits, at, low | ((word >>> by | above << rest) & ~kept));
      word = above;
      low = 0;
      kept = 0;
    }
    WORD.set(bits, last, low | ((word >>> by) & ~kept));
  }

  /** Adds a number to 16-bit fields from one byte to another; the numbers must not overflow. */
  static void addTo16Bits(byte[] bytes, int from, int to, int add) {
    int at = from;
    for (; at + Long.BYTES <= to; at += Long.BYTES) {
      WORD.set(bytes, at, (long) WORD.get(bytes, at) + 0x0001000100010001L * add);
    }
    for (; at < to; at += Short.BYTES) {
      long word = (long) WORD.get(bytes, at);
      WORD.set(bytes, at, (word & ~0xFFFFL) | ((word + add) & 0xFFFF));
    }
  }

  /**
   * The position of a set bit of a word.
   *
   * @param rank how many set bits are below it
   */
  static int select(long word, int rank) {
    // Vigna, "Broadword implementation of rank/select queries", 2008, with a table for the byte.
    long sums = word - (word >>> 1 & 0x5555555555555555L);
    sums = (sums & 0x3333333333333333L) + (sums >>> 2 & 0x3333333333333333L);
    sums = ((sums + (sums >>> 4)) & 0x0F0F0F0F0F0F0F0FL) * 0x0101010101010101L;
    long notAbove =
        ((rank * 0x0101010101010101L | 0x8080808080808080L) - sums) & 0x8080808080808080L;
    int place = Long.bitCount(notAbove) << 3;
    int rankInByte = rank - (int) (sums << 8 >>> place & 0xFF);
    return place + SELECT_IN_BYTE[rankInByte << 8 | ((int) (word >>> place) & 0xFF)];
  }
}
