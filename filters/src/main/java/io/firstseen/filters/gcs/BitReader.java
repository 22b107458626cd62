package io.firstseen.filters.gcs;

import java.nio.ByteBuffer;

/**
 * Random access to bits, most significant first. Past the end there are zeros without end, so that
 * no position is out of bounds and every unary run ends. Immutable, safe for many threads.
 */
public final class BitReader {
  private final ByteBuffer bytes;
  private final int length;

  /** Reads from the buffer's position to its limit; the bytes must not change any more. */
  public BitReader(ByteBuffer bytes) {
    this.bytes = bytes.slice();
    this.length = this.bytes.limit();
  }

  /** The 64 bits that begin at a bit position. */
  public long wordAt(long position) {
    long index = position >>> 3;
    int shift = (int) (position & 7);
    if (index <= length - 9L) {
      int i = (int) index;
      return bytes.getLong(i) << shift | (bytes.get(i + 8) & 0xFFL) >>> (8 - shift);
    }
    return wordNearEnd(index, shift);
  }

  /** The {@code bits} (0 to 64) bits that begin at a bit position, as an unsigned number. */
  public long bitsAt(long position, int bits) {
    return bits == 0 ? 0 : wordAt(position) >>> (64 - bits);
  }

  /** The number of one bits from a bit position up to the next zero bit. */
  long onesAt(long position) {
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
    long word = 0;
    for (int i = 0; i < 8; i++) {
      word = word << 8 | byteAt(index + i);
    }
    return word << shift | byteAt(index + 8) >>> (8 - shift);
  }

  private long byteAt(long index) {
    return index < length ? bytes.get((int) index) & 0xFFL : 0;
  }
}
