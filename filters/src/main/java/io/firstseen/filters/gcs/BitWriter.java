package io.firstseen.filters.gcs;

import java.util.Arrays;

/** Appends bits, most significant first, to a growing array; the last byte is padded with zeros. */
public final class BitWriter {
  // Some virtual machines refuse arrays nearer to Integer.MAX_VALUE.
  static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  private byte[] bytes;
  private long bitLength;

  /** Takes room for as many bits; more may come. */
  public BitWriter(long expectedBits) {
    bytes = new byte[(int) Math.min(MAX_BYTES, (Math.max(0, expectedBits) + 7) / 8)];
  }

  /** The number of bits written. */
  public long bitLength() {
    return bitLength;
  }

  /** Appends the lowest {@code bits} bits of {@code value}, 0 to 64 of them. */
  public void write(long value, int bits) {
    reserve(bits);
    int left = bits;
    while (left > 0) {
      int free = 8 - (int) (bitLength & 7);
      int taken = Math.min(free, left);
      left -= taken;
      int chunk = (int) (value >>> left) & ((1 << taken) - 1);
      bytes[(int) (bitLength >>> 3)] |= (byte) (chunk << (free - taken));
      bitLength += taken;
    }
  }

  /** Appends {@code count} one bits and a zero bit. */
  void writeUnary(long count) {
    for (long left = count; left > 0; left -= 64) {
      write(-1L, (int) Math.min(64, left));
    }
    write(0, 1);
  }

  /** The bytes written; the writer must not be used any more. */
  public byte[] toBytes() {
    int length = (int) ((bitLength + 7) >>> 3);
    return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
  }

  private void reserve(int bits) {
    long needed = (bitLength + bits + 7) >>> 3;
    if (needed > bytes.length) {
      if (needed > MAX_BYTES) {
        throw new IllegalArgumentException(
            "the set must encode to at most " + MAX_BYTES + " bytes, it needs more");
      }
      long grown = Math.max(needed, bytes.length + (bytes.length >>> 1) + 16L);
      bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_BYTES, grown));
    }
  }
}
