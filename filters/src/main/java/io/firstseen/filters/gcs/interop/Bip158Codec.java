package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.key.KeyHash;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;

/**
 * The basic filter of a Bitcoin block (BIP 158, Olaoluwa Osuntokun and Alex Akselrod, 2017): the
 * number N of elements as a CompactSize, then the differences between the sorted values as Rice
 * codes with P = 19 (the quotient is a run of ones, ended by a zero), padded with zeros to a whole
 * byte. A value is the upper half of the 128-bit product of an element's SipHash-2-4 and N ·
 * 784931; equal values are written, as a difference of 0. The key of the hash is the first 16 bytes
 * of the block's hash.
 *
 * <p>A key is a script. Repeated scripts and the empty script are omitted, as the proposal
 * requires. The caller must omit {@code OP_RETURN} outputs.
 */
public final class Bip158Codec implements SetCodec {
  private static final int P = 19;
  private static final long M = 784_931;
  private static final RiceForm FORM = new RiceForm(P, RiceForm.Gaps.DIFFERENCE, true, false);
  private static final int BLOCK_HASH_DIGITS = 64;

  private final KeyHash hash;

  /**
   * Creates the codec for a SipHash key.
   *
   * @throws IllegalArgumentException if the key is not 16 bytes long
   */
  public Bip158Codec(byte[] sipHashKey16) {
    this.hash = KeyHash.sipHash24(sipHashKey16);
  }

  /**
   * Creates the codec for a block.
   *
   * @param blockHash 64 hexadecimal digits as nodes and explorers show them, last byte first
   * @throws IllegalArgumentException if it has another form
   */
  public static Bip158Codec ofBlock(String blockHash) {
    if (blockHash.length() != BLOCK_HASH_DIGITS
        || !blockHash.chars().allMatch(HexFormat::isHexDigit)) {
      throw new IllegalArgumentException(
          "a block hash must be 64 hexadecimal digits, got '" + blockHash + "'");
    }
    byte[] shown = HexFormat.of().parseHex(blockHash);
    byte[] key = new byte[16];
    for (int i = 0; i < key.length; i++) {
      key[i] = shown[shown.length - 1 - i];
    }
    return new Bip158Codec(key);
  }

  @Override
  public byte[] encode(List<byte[]> keys) {
    NavigableSet<byte[]> elements = new TreeSet<>(Arrays::compare);
    keys.stream().filter(key -> key.length > 0).forEach(elements::add);
    int n = elements.size();
    long[] values = elements.stream().mapToLong(e -> value(e, n)).sorted().toArray();
    if (n < 0xFD) {
      return FORM.encode(n, 8, values);
    }
    if (n <= 0xFFFF) {
      return FORM.encode(0xFDL << 16 | (Short.reverseBytes((short) n) & 0xFFFFL), 24, values);
    }
    return FORM.encode(0xFEL << 32 | Integer.toUnsignedLong(Integer.reverseBytes(n)), 40, values);
  }

  @Override
  public CodedSet decode(byte[] bytes) throws MalformedGolombCodedSetException {
    int nBytes = compactSizeBytes(bytes);
    long n = compactSize(bytes, nBytes);
    CodedSet set =
        new CodedSet(
            bytes,
            8 * nBytes,
            FORM,
            Math.max(0, n * M - 1),
            Map.of("n", n),
            key -> value(key, n),
            false);
    if (set.count() != n) {
      throw new MalformedGolombCodedSetException(
          "there must be N = " + n + " values, there are " + set.count());
    }
    return set;
  }

  /** Returns the number of bytes of the CompactSize at the start. */
  private static int compactSizeBytes(byte[] bytes) throws MalformedGolombCodedSetException {
    int first = bytes.length == 0 ? 0 : bytes[0] & 0xFF;
    if (first == 0xFF) {
      throw new MalformedGolombCodedSetException("N must be in [0, 2^32 - 1], got 8 bytes for it");
    }
    int needed = first < 0xFD ? 1 : first == 0xFD ? 3 : 5;
    if (bytes.length < needed) {
      throw new MalformedGolombCodedSetException(
          "N takes at least " + needed + " bytes, got " + bytes.length);
    }
    return needed;
  }

  private static long compactSize(byte[] bytes, int length)
      throws MalformedGolombCodedSetException {
    if (length == 1) {
      return bytes[0] & 0xFF;
    }
    long n = 0;
    for (int i = length - 1; i > 0; i--) {
      n = n << 8 | (bytes[i] & 0xFF);
    }
    long least = length == 3 ? 0xFD : 1 << 16;
    if (n < least) {
      throw new MalformedGolombCodedSetException(
          "N in " + length + " bytes must be at least " + least + ", got " + n);
    }
    return n;
  }

  private long value(byte[] element, long n) {
    long hashed = hash.hash(element);
    long range = n * M;
    // The signed product is range · 2^64 too small if the top bit of the hash is set.
    return Math.multiplyHigh(hashed, range) + (hashed >> 63 & range);
  }
}
