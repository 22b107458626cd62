package io.firstseen.filters.gcs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Random access to bits, most significant first. All bits past the end are 0, so every position is
 * within bounds and every unary run ends. Immutable, safe for use by many threads.
 */
public final class BitReader {
  /** One code path for arrays and mapped files, where {@link ByteBuffer#getLong} has several. */
  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** The number of bits of {@link #windowAt} that are valid at every position. */
  static final int WINDOW_BITS = 57;

  private final ByteBuffer bytes;
  private final int length;

  /**
   * Reads the remaining bytes of a buffer, which must not change afterwards. The buffer's position
   * does not change.
   */
  public BitReader(ByteBuffer bytes) {
    this.bytes = bytes.slice();
    this.length = this.bytes.limit();
  }

  /** Reads the byte at a bit position, only to load it into the processor's cache. */
  int touch(long position) {
    return bytes.get((int) Math.min(position >>> 3, length - 1)) & 0xFF;
  }

  /** Returns the 64 bits that begin at a bit position. */
  public long wordAt(long position) {
    long index = position >>> 3;
    int shift = (int) (position & 7);
    if (index <= length - 9L) {
      int i = (int) index;
      return (long) WORDS.get(bytes, i) << shift | (bytes.get(i + 8) & 0xFFL) >>> (8 - shift);
    }
    return wordNearEnd(index, shift);
  }

  /**
   * Returns the bits from a bit position to the end of the eighth byte, which are 57 to 64, then
   * zeros.
   */
  long windowAt(long position) {
    long index = position >>> 3;
    int shift = (int) (position & 7);
    return index <= length - 8L
        ? (long) WORDS.get(bytes, (int) index) << shift
        : wordNearEnd(index, shift);
  }

  /**
   * Returns the bits before a bit position, the last of them lowest; {@link #bitsBefore} of them
   * are valid.
   */
  long windowBefore(long position) {
    long index = ((position + 7) >>> 3) - 8;
    int shift = (int) (-position & 7);
    return index >= 0 && index <= length - 8L
        ? (long) WORDS.get(bytes, (int) index) >>> shift
        : wordAcrossBounds(index) >>> shift;
  }

  /**
   * Returns the number of valid bits of {@link #windowBefore}: 57 to 63, fewer at the beginning.
   */
  static int bitsBefore(long position) {
    return (int) Math.min(position, Math.min(63, Long.SIZE - (-position & 7)));
  }

  /**
   * Returns the number of one bits before a bit position, down to the nearest zero bit or the first
   * bit.
   */
  long onesBefore(long position) {
    long at = position;
    while (at > 0) {
      int ones = Long.numberOfTrailingZeros(~windowBefore(at));
      int looked = bitsBefore(at);
      if (ones < looked) {
        return position - at + ones;
      }
      at -= looked;
    }
    return position;
  }

  /**
   * Returns the {@code bits} (0 to 64) bits that begin at a bit position, as an unsigned number.
   */
  public long bitsAt(long position, int bits) {
    return bits == 0 ? 0 : wordAt(position) >>> (64 - bits);
  }

  /** Returns the number of one bits from a bit position up to the next zero bit. */
  public long onesAt(long position) {
    long ones = 0;
    while (true) {
      int run = Long.numberOfLeadingZeros(~wordAt(position + ones));
      ones += run;
      if (run < 64) {
        return ones;
      }
    }
  }

  private long wordNearEnd(long index, int shift) {
    return wordAcrossBounds(index) << shift | byteAt(index + 8) >>> (8 - shift);
  }

  private long wordAcrossBounds(long index) {
    long word = 0;
    for (int i = 0; i < 8; i++) {
      word = word << 8 | byteAt(index + i);
    }
    return word;
  }

  private long byteAt(long index) {
    return index >= 0 && index < length ? bytes.get((int) index) & 0xFFL : 0;
  }
}
