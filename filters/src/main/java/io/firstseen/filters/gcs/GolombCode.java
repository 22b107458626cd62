package io.firstseen.filters.gcs;

import java.math.BigInteger;

/**
 * The Golomb code with parameter m. A number x is coded as x / m in unary and x mod m in truncated
 * binary: with s = floor(log2 m), remainders below 2^(s + 1) - m have s bits, the others have one
 * more bit. A code is stored in two parts: the <i>field</i>, which is s bits of the remainder, and
 * the <i>prefix</i>, which is the unary quotient and the one more bit if there is one. See S. W.
 * Golomb, Run-length encodings, 1966. All numbers are unsigned.
 */
final class GolombCode {
  /** ln 2 in units of 2^-64, rounded. */
  private static final BigInteger LN_2 = new BigInteger("B17217F7D1CF79AC", 16);

  private final long parameter;
  private final long reciprocal;
  private final int fieldBits;
  private final long cutoff;

  GolombCode(long parameter) {
    this.parameter = parameter;
    this.reciprocal = Long.divideUnsigned(-1L, parameter);
    this.fieldBits = 63 - Long.numberOfLeadingZeros(parameter);
    // 2^64 itself wraps to 0.
    this.cutoff = (fieldBits == 63 ? 0 : 2L << fieldBits) - parameter;
  }

  /**
   * Returns the parameter for {@code count} numbers below {@code range}, which is at most 2^64:
   * max(1, round(range / count · ln 2)), near the optimum for gaps between random numbers. Computed
   * in integers, so that every machine and language computes the same result.
   */
  static long parameterFor(long count, BigInteger range) {
    if (count == 0) {
      return 1;
    }
    BigInteger n = BigInteger.valueOf(count);
    BigInteger rounded =
        LN_2.multiply(range).shiftLeft(1).add(n.shiftLeft(64)).divide(n.shiftLeft(65));
    return rounded.signum() == 0 ? 1 : rounded.longValue();
  }

  long parameter() {
    return parameter;
  }

  /** Returns the bits of a field. */
  int fieldBits() {
    return fieldBits;
  }

  /**
   * Returns the cutoff: a field below it is the whole remainder; one more bit follows other fields.
   */
  long cutoff() {
    return cutoff;
  }

  /** Returns the minimum number of bits of a coded number. */
  int minBits() {
    return fieldBits + 1;
  }

  /** Returns the quotient of a number. */
  long quotient(long x) {
    if (parameter <= 2 || x < 0) {
      return Long.divideUnsigned(x, parameter);
    }
    // At most one too small, because the reciprocal is less than 2^-64 smaller than 1 / parameter.
    long quotient = Math.multiplyHigh(x, reciprocal);
    return quotient + (x - quotient * parameter >= parameter ? 1 : 0);
  }

  /** Returns whether the code has one more bit after this field. */
  boolean hasMore(long field) {
    return Long.compareUnsigned(field, cutoff) >= 0;
  }

  /**
   * Returns whether the number of a quotient and a remainder is above a bound; no intermediate
   * result overflows.
   */
  boolean exceeds(long quotient, long remainder, long bound) {
    long high = Math.multiplyHigh(quotient, parameter) + (parameter >> 63 & quotient);
    long product = quotient * parameter;
    long number = product + remainder;
    return high != 0
        || Long.compareUnsigned(number, product) < 0
        || Long.compareUnsigned(number, bound) > 0;
  }
}
