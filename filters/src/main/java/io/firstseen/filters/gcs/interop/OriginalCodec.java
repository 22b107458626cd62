package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;

/**
 * The file of the original tools in Python and C++ (Giovanni Bajo, Golomb-coded sets: smaller than
 * Bloom filters; github.com/rasky/gcs): N and P as 32-bit big-endian numbers, then the differences
 * between the sorted values as Rice codes (the quotient is a run of ones, ended by a zero), padded
 * with zeros to a whole byte. N is the number of given keys, with repeats. A value is the last 32
 * bits of a key's MD5, modulo N · P. The false-positive rate is about 1 / P.
 *
 * <p>A difference of 0 is not written, so the value 0 is not written either, and a file does not
 * record whether the set contains it. The original query does not find a key with this value.
 * {@link CodedSet#mightContain} always returns true for this value, so that every key is found.
 */
public final class OriginalCodec implements SetCodec {
  /** The value that the tools use. */
  public static final long DEFAULT_P = 1024;

  private static final int HEADER_BITS = 64;

  private final int log2P;

  /**
   * Creates the codec for a P.
   *
   * @param p the inverse of the false-positive rate, a power of two in [1, 2^31]; for other numbers
   *     the Python and the C++ tool disagree
   * @throws IllegalArgumentException if it is another number
   */
  public OriginalCodec(long p) {
    if (p < 1 || p > 1L << 31 || Long.bitCount(p) != 1) {
      throw new IllegalArgumentException("P must be a power of two in [1, 2^31], got " + p);
    }
    this.log2P = Long.numberOfTrailingZeros(p);
  }

  @Override
  public byte[] encode(List<byte[]> keys) {
    long n = keys.size();
    long[] values = keys.stream().mapToLong(key -> value(key, n, log2P)).sorted().toArray();
    return form(log2P).encode(n << 32 | 1L << log2P, HEADER_BITS, values);
  }

  /** Returns the set in a file. Uses the file's P instead of this codec's P. */
  @Override
  public CodedSet decode(byte[] bytes) throws MalformedGolombCodedSetException {
    if (bytes.length < HEADER_BITS / 8) {
      throw new MalformedGolombCodedSetException(
          "the header takes " + HEADER_BITS / 8 + " bytes, got " + bytes.length);
    }
    ByteBuffer start = ByteBuffer.wrap(bytes);
    long n = Integer.toUnsignedLong(start.getInt());
    long p = Integer.toUnsignedLong(start.getInt());
    if (Long.bitCount(p) != 1) {
      throw new MalformedGolombCodedSetException("P must be a power of two in [1, 2^31], got " + p);
    }
    int log2 = Long.numberOfTrailingZeros(p);
    long maxValue = Math.max(0, Math.min(n << log2, 1L << 32) - 1);
    CodedSet set =
        new CodedSet(
            bytes,
            HEADER_BITS,
            form(log2),
            maxValue,
            Map.of("n", n, "p", p),
            key -> value(key, n, log2),
            n > 0);
    if (set.count() > n) {
      throw new MalformedGolombCodedSetException(
          "there must be at most N = " + n + " values, there are " + set.count());
    }
    return set;
  }

  private static RiceForm form(int log2P) {
    return new RiceForm(log2P, RiceForm.Gaps.DIFFERENCE_BUT_ZERO, true, false);
  }

  private static long value(byte[] key, long n, int log2P) {
    long last32 = Integer.toUnsignedLong(ByteBuffer.wrap(Digest.MD5.of(key)).getInt(12));
    return n == 0 ? 0 : last32 % (n << log2P);
  }
}
