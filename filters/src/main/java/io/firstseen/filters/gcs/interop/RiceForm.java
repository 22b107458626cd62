package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.BitWriter;

/**
 * How a format writes the gaps between sorted values as Rice codes: the quotient of 2^{@code
 * remainderBits} as a run of equal bits that the other bit ends, then the remainder.
 *
 * @param remainderBits the parameter of the Rice code, 0 to 31
 * @param gaps what of a value is coded
 * @param runOfOnes whether quotients are runs of ones, or else of zeros
 * @param paddedWithOnes whether the last byte is filled up with ones, or else with zeros
 */
record RiceForm(int remainderBits, Gaps gaps, boolean runOfOnes, boolean paddedWithOnes) {

  /** What of a value is coded; the value before the first one counts as 0. */
  enum Gaps {
    /**
     * The difference from the value before. Takes at least 7 remainder bits: with fewer, zeros that
     * fill up the last byte could be a code.
     */
    DIFFERENCE,
    /** The same, but a value equal to the one before, or a first value of 0, is left out. */
    DIFFERENCE_BUT_ZERO,
    /** The difference from the value before, less one; the first value as it is. */
    DIFFERENCE_LESS_ONE
  }

  private static final long MAX_BITS = 8L * SetCodec.MAX_BYTES;

  /**
   * Writes values behind a header, and fills up the last byte.
   *
   * @param header the number of bits that {@code headerBits} has, up to 64
   * @param sorted ascending as unsigned numbers; without repeats if gaps are less one
   * @throws IllegalArgumentException if that needs more than {@link SetCodec#MAX_BYTES} bytes
   */
  byte[] encode(long header, int headerBits, long[] sorted) {
    // Counted first: a value far from the one before is a run as long as you like.
    long bits = headerBits;
    for (int i = 0; i < sorted.length; i++) {
      if (isCoded(sorted, i)) {
        bits += 1 + remainderBits;
        long run = gap(sorted, i) >>> remainderBits;
        if (bits > MAX_BITS || Long.compareUnsigned(run, MAX_BITS - bits) > 0) {
          throw new IllegalArgumentException(
              "the set must encode to at most "
                  + SetCodec.MAX_BYTES
                  + " bytes, it needs more with "
                  + remainderBits
                  + " remainder bits");
        }
        bits += run;
      }
    }
    BitWriter out = new BitWriter(bits);
    out.write(header, headerBits);
    long runBits = runOfOnes ? -1 : 0;
    for (int i = 0; i < sorted.length; i++) {
      if (isCoded(sorted, i)) {
        long gap = gap(sorted, i);
        for (long left = gap >>> remainderBits; left > 0; left -= 64) {
          out.write(runBits, (int) Math.min(64, left));
        }
        out.write(~runBits, 1);
        out.write(gap, remainderBits);
      }
    }
    if (paddedWithOnes) {
      out.write(-1, (int) (-bits & 7));
    }
    return out.toBytes();
  }

  private boolean isCoded(long[] sorted, int i) {
    return gaps != Gaps.DIFFERENCE_BUT_ZERO || gap(sorted, i) != 0;
  }

  private long gap(long[] sorted, int i) {
    if (i == 0) {
      return sorted[0];
    }
    long difference = sorted[i] - sorted[i - 1];
    return gaps == Gaps.DIFFERENCE_LESS_ONE ? difference - 1 : difference;
  }
}
