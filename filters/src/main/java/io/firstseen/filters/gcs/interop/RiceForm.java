package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.BitWriter;

/**
 * The form in which a format writes the gaps between sorted values as Rice codes: the quotient by
 * 2^{@code remainderBits} as a run of equal bits, ended by the other bit, then the remainder.
 *
 * @param remainderBits the parameter of the Rice code, 0 to 31
 * @param gaps how the distance to the previous value is coded
 * @param runOfOnes whether quotients are runs of ones; if not, of zeros
 * @param paddedWithOnes whether the last byte is padded with ones; if not, with zeros
 */
record RiceForm(int remainderBits, Gaps gaps, boolean runOfOnes, boolean paddedWithOnes) {

  /**
   * How the distance to the previous value is coded. The predecessor of the first value counts as
   * 0.
   */
  enum Gaps {
    /**
     * The difference from the previous value. Needs at least 7 remainder bits: with fewer, the
     * padding of the last byte could be read as a code.
     */
    DIFFERENCE,
    /**
     * Like {@link #DIFFERENCE}, but a value that equals the previous value, and a first value of 0,
     * are omitted.
     */
    DIFFERENCE_BUT_ZERO,
    /** The difference from the previous value, less one; the first value is coded unchanged. */
    DIFFERENCE_LESS_ONE
  }

  private static final long MAX_BITS = 8L * SetCodec.MAX_BYTES;

  /**
   * Writes a header and the values, and pads the last byte.
   *
   * @param header the header, in its {@code headerBits} lowest bits, up to 64
   * @param sorted ascending as unsigned numbers; without repeats if gaps are less one
   * @throws IllegalArgumentException if the result needs more than {@link SetCodec#MAX_BYTES} bytes
   */
  byte[] encode(long header, int headerBits, long[] sorted) {
    // The bits are counted first, because a value far from the previous value gives a run of any
    // length.
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
