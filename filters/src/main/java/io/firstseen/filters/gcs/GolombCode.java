package io.firstseen.filters.gcs;

import java.math.BigInteger;

/**
 * The Golomb code of one parameter m. A number x is x / m in unary and x mod m in truncated binary:
 * with s = floor(log2 m), the remainders below 2^(s + 1) - m take s bits, the others one more. A
 * code is kept in two parts, the <i>field</i>, s bits of any remainder, and the <i>prefix</i>, the
 * unary quotient and the one more bit. See S. W. Golomb, Run-length encodings, 1966. All numbers
 * are unsigned.
 */
final class GolombCode {
  /** ln 2 in units of 2^-64, to the nearest. */
  private static final BigInteger LN_2 = new BigInteger("B17217F7D1CF79AC", 16);

  private static final int SHORT_FIELD_BITS = 10;

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
   * The parameter for {@code count} numbers below 2^{@code valueBits}: max(1, round(2^valueBits /
   * count · ln 2)), near the optimum for gaps between random numbers. Computed in integers, so that
   * every machine and language finds the same.
   */
  static long parameterFor(long count, int valueBits) {
    return parameterFor(count, BigInteger.ONE.shiftLeft(valueBits));
  }

  /** The same for {@code count} numbers below {@code universe}, which is at most 2^64. */
  static long parameterFor(long count, BigInteger universe) {
    if (count == 0) {
      return 1;
    }
    BigInteger n = BigInteger.valueOf(count);
    BigInteger rounded =
        LN_2.multiply(universe).shiftLeft(1).add(n.shiftLeft(64)).divide(n.shiftLeft(65));
    return rounded.signum() == 0 ? 1 : rounded.longValue();
  }

  long parameter() {
    return parameter;
  }

  /** The bits of a field. */
  int fieldBits() {
    return fieldBits;
  }

  /** A remainder whose field is below it is that field; others have one more bit. */
  long cutoff() {
    return cutoff;
  }

  /** The number of buckets for so many values; see {@link GolombCodedSet}. */
  long bucketCount(long count) {
    // As few values as keep the bucket starts below 0.29 bits a value: longer codes need more.
    int valuesPerBucket = fieldBits <= SHORT_FIELD_BITS ? 38 : 42;
    return count / valuesPerBucket + (count % valuesPerBucket == 0 ? 0 : 1);
  }

  /** The fewest bits that a coded number takes. */
  int minBits() {
    return fieldBits + 1;
  }

  /** The quotient of a number. */
  long quotient(long x) {
    if (parameter <= 2 || x < 0) {
      return Long.divideUnsigned(x, parameter);
    }
    // Too small by one at most, as the reciprocal lacks less than 2^-64 to 1 / parameter.
    long quotient = Math.multiplyHigh(x, reciprocal);
    return quotient + (x - quotient * parameter >= parameter ? 1 : 0);
  }

  /** Whether one more bit follows a field. */
  boolean hasMore(long field) {
    return Long.compareUnsigned(field, cutoff) >= 0;
  }

  /** Whether quotient and remainder make a number above a bound; none of them overflows. */
  boolean exceeds(long quotient, long remainder, long bound) {
    long high = Math.multiplyHigh(quotient, parameter) + (parameter >> 63 & quotient);
    long product = quotient * parameter;
    long number = product + remainder;
    return high != 0
        || Long.compareUnsigned(number, product) < 0
        || Long.compareUnsigned(number, bound) > 0;
  }
}
