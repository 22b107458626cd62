package io.firstseen.filters.gcs;

import java.math.BigInteger;

/**
 * The Golomb code of one parameter m: a number x is x / m in unary (ones, then a zero) and x mod m
 * in truncated binary. See S. W. Golomb, Run-length encodings, 1966. All numbers are unsigned.
 */
final class GolombCode {
  /** ln 2 in units of 2^-64, to the nearest. */
  private static final BigInteger LN_2 = new BigInteger("B17217F7D1CF79AC", 16);

  private final long parameter;
  private final int width;
  private final long cutoff;

  GolombCode(long parameter) {
    this.parameter = parameter;
    this.width = 64 - Long.numberOfLeadingZeros(parameter - 1);
    this.cutoff = width == 64 ? -parameter : (1L << width) - parameter;
  }

  /**
   * The parameter for {@code count} numbers below 2^{@code valueBits}: max(1, round(2^valueBits /
   * count · ln 2)), near the optimum for gaps between random numbers. Computed in integers, so that
   * every machine and language finds the same.
   */
  static long parameterFor(long count, int valueBits) {
    if (count == 0) {
      return 1;
    }
    BigInteger n = BigInteger.valueOf(count);
    BigInteger rounded = LN_2.shiftLeft(valueBits + 1).add(n.shiftLeft(64)).divide(n.shiftLeft(65));
    return rounded.signum() == 0 ? 1 : rounded.longValue();
  }

  long parameter() {
    return parameter;
  }

  /** The fewest bits that a coded number takes. */
  int minBits() {
    return 1 + (cutoff == 0 ? width : width - 1);
  }

  void write(BitWriter out, long x) {
    out.writeUnary(Long.divideUnsigned(x, parameter));
    long remainder = Long.remainderUnsigned(x, parameter);
    if (Long.compareUnsigned(remainder, cutoff) < 0) {
      out.write(remainder, width - 1);
    } else {
      out.write(remainder + cutoff, width);
    }
  }

  /** The remainder that is coded at a bit position. */
  long remainderAt(BitReader in, long position) {
    if (width == 0) {
      return 0;
    }
    long word = in.wordAt(position);
    // Shifted in two steps, since a shift by 64 does nothing in Java.
    long shorter = word >>> 1 >>> (64 - width);
    return Long.compareUnsigned(shorter, cutoff) < 0 ? shorter : (word >>> (64 - width)) - cutoff;
  }

  /** The bits that a remainder takes. */
  int remainderBits(long remainder) {
    return Long.compareUnsigned(remainder, cutoff) < 0 ? width - 1 : width;
  }
}
