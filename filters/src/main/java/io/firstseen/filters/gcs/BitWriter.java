package io.firstseen.filters.gcs;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Appends bits, most significant first, to a growing array or to a stream; the last byte is padded
 * with zeros.
 */
public final class BitWriter {
  // Some virtual machines do not allow longer arrays.
  static final int MAX_BYTES = Integer.MAX_VALUE - 8;

  private static final int STREAM_BUFFER_BYTES = 1 << 16;
  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final OutputStream stream;
  private byte[] bytes;
  private int filled;
  private long streamedBytes;
  // The last bits, fewer than 64, at the top of a word.
  private long word;
  private int wordBits;

  /** Allocates room for this many bits; more may be written. */
  public BitWriter(long expectedBits) {
    stream = null;
    bytes = new byte[(int) Math.min(MAX_BYTES, (Math.max(0, expectedBits) + 7) / 8)];
  }

  /** Writes to a stream, in blocks. Wraps its exceptions in {@link UncheckedIOException}. */
  BitWriter(OutputStream stream) {
    this.stream = stream;
    bytes = new byte[STREAM_BUFFER_BYTES];
  }

  /** Returns the number of bits written. */
  public long bitLength() {
    return 8 * (streamedBytes + filled) + wordBits;
  }

  /** Appends the lowest {@code bits} bits of {@code value}, 0 to 64 of them. */
  public void write(long value, int bits) {
    if (bits == 0) {
      return;
    }
    long aligned = value << (64 - bits);
    word |= aligned >>> wordBits;
    int all = wordBits + bits;
    if (all < 64) {
      wordBits = all;
      return;
    }
    writeWord(word);
    wordBits = all - 64;
    word = wordBits == 0 ? 0 : aligned << (bits - wordBits);
  }

  private void writeWord(long full) {
    reserve(8);
    WORDS.set(bytes, filled, full);
    filled += 8;
  }

  /**
   * Appends the lowest {@code bits} (0 to 63) bits of each of the first {@code count} numbers,
   * whose other bits must be 0.
   */
  void write(long[] numbers, int count, int bits) {
    long gathered = word;
    int gatheredBits = wordBits;
    for (int i = 0; i < count; i++) {
      // Shifted in two steps, since a shift by 64 does nothing in Java.
      long aligned = numbers[i] << (63 - bits) << 1;
      gathered |= aligned >>> gatheredBits;
      gatheredBits += bits;
      if (gatheredBits >= 64) {
        writeWord(gathered);
        gatheredBits -= 64;
        gathered = aligned << (bits - 1 - gatheredBits) << 1;
      }
    }
    word = gathered;
    wordBits = gatheredBits;
  }

  /** Appends {@code count} one bits and a zero bit. */
  void writeUnary(long count) {
    for (long left = count; left > 0; left -= 64) {
      write(-1L, (int) Math.min(64, left));
    }
    write(0, 1);
  }

  /** Appends the bits of another writer, which must not be used afterwards. */
  void append(BitWriter other) {
    if (other.stream != null) {
      throw new IllegalArgumentException("the other's bits went to a stream");
    }
    if (wordBits == 0) {
      reserve(other.filled);
      System.arraycopy(other.bytes, 0, bytes, filled, other.filled);
      filled += other.filled;
    } else {
      for (int at = 0; at < other.filled; at += 8) {
        write((long) WORDS.get(other.bytes, at), 64);
      }
    }
    write(other.wordBits == 0 ? 0 : other.word >>> (64 - other.wordBits), other.wordBits);
  }

  /** Returns the bytes. The writer must not be used afterwards. */
  public byte[] toBytes() {
    flushWord();
    return filled == bytes.length ? bytes : Arrays.copyOf(bytes, filled);
  }

  /** Writes the remaining bytes to the stream. The writer must not be used afterwards. */
  void finish() {
    flushWord();
    flushBytes();
  }

  private void flushWord() {
    int last = (wordBits + 7) >>> 3;
    reserve(last);
    for (int i = 0; i < last; i++) {
      bytes[filled++] = (byte) (word >>> (56 - 8 * i));
    }
    word = 0;
    wordBits = 0;
  }

  private void flushBytes() {
    try {
      stream.write(bytes, 0, filled);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    streamedBytes += filled;
    filled = 0;
  }

  private void reserve(int count) {
    if (count <= bytes.length - filled) {
      return;
    }
    if (stream != null) {
      flushBytes();
      return;
    }
    long needed = (long) filled + count;
    if (needed > MAX_BYTES) {
      throw new IllegalArgumentException(
          "the set must encode to at most " + MAX_BYTES + " bytes, it needs more");
    }
    long grown = Math.max(needed, bytes.length + (bytes.length >>> 1) + 16L);
    bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_BYTES, grown));
  }
}
