package io.firstseen.filters.cuckoo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Unsigned fields of up to 57 bits at any bit position of a byte array, lowest bit first. */
final class BitFields {
  /** The maximum number of bits that one load from a byte address always covers. */
  static final int MAX_BITS = Long.SIZE - Byte.SIZE + 1;

  /**
   * The number of bytes that an array needs after its last field, because fields are read in whole
   * words.
   */
  static final int SPARE_BYTES = Long.BYTES;

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private BitFields() {}

  static long mask(int bits) {
    return (1L << bits) - 1;
  }

  /** Returns the word at a bit position; only its low 57 bits are guaranteed to be valid. */
  static long word(byte[] bytes, int bit) {
    return (long) WORD.get(bytes, bit >>> 3) >>> (bit & 7);
  }

  static long get(byte[] bytes, int bit, int bits) {
    return word(bytes, bit) & mask(bits);
  }

  static void set(byte[] bytes, int bit, int bits, long value) {
    int index = bit >>> 3;
    int shift = bit & 7;
    long word = (long) WORD.get(bytes, index);
    WORD.set(bytes, index, (word & ~(mask(bits) << shift)) | (value << shift));
  }

  /** Inverts, from a position on, the bits that are set in a value of up to 57 bits. */
  static void flip(byte[] bytes, int bit, long value) {
    int index = bit >>> 3;
    WORD.set(bytes, index, (long) WORD.get(bytes, index) ^ (value << (bit & 7)));
  }

  /** Writes fields one after the other into an array of zeros, without reading it. */
  static final class Writer {
    /** The maximum number of bits of a field. */
    static final int MAX_BITS = Long.SIZE - Byte.SIZE;

    private final byte[] bytes;
    private int index;

    /** The first {@link #written} bits of the byte at the index. */
    private long word;

    private int written;

    Writer(byte[] bytes) {
      this.bytes = bytes;
    }

    void write(long value, int bits) {
      word |= value << written;
      WORD.set(bytes, index, word);
      written += bits;
      index += written >>> 3;
      word >>>= written & -Byte.SIZE;
      written &= 7;
    }

    /** Skips bits, which stay 0. */
    void skip(int bits) {
      written += bits;
      if (written >= Byte.SIZE) {
        index += written >>> 3;
        word = 0;
        written &= 7;
      }
    }
  }
}
