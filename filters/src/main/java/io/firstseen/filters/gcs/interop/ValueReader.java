package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.BitReader;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.nio.ByteBuffer;

/**
 * Reads the values of a set one after the other and rejects codes that its format cannot produce.
 */
final class ValueReader {
  private final RiceForm form;
  private final long maxValue;
  private final BitReader bits;
  private final long end;

  private long position;
  private long value;
  private boolean begun;

  /**
   * Creates a reader before the first value.
   *
   * @param headerBits the bit position where the codes begin
   * @param maxValue the greatest possible value, unsigned
   */
  ValueReader(byte[] bytes, int headerBits, RiceForm form, long maxValue) {
    this.form = form;
    this.maxValue = maxValue;
    this.bits = new BitReader(ByteBuffer.wrap(bytes));
    this.end = 8L * bytes.length;
    this.position = headerBits;
  }

  long value() {
    return value;
  }

  /**
   * Moves to the next value.
   *
   * @return false at the end, if the bytes end with correct padding
   */
  boolean advance() throws MalformedGolombCodedSetException {
    if (isPadding()) {
      return false;
    }
    long runEnd = endOfRun();
    long run = runEnd - position;
    long next = runEnd + 1 + form.remainderBits();
    if (next > end) {
      throw new MalformedGolombCodedSetException(
          "the code that begins at bit " + position + " extends past the end, at bit " + end);
    }
    long remainder = bits.bitsAt(runEnd + 1, form.remainderBits());
    value = valueAfter(run, remainder);
    begun = true;
    position = next;
    return true;
  }

  /**
   * Returns whether only padding remains. Padding of less than a byte cannot be a code, because
   * every code contains a bit that differs from the padding.
   */
  private boolean isPadding() {
    long left = end - position;
    if (left >= 8) {
      return false;
    }
    long padding = form.paddedWithOnes() ? (1 << left) - 1 : 0;
    return bits.bitsAt(position, (int) left) == padding;
  }

  private long endOfRun() {
    long at = position;
    int run = 64;
    while (run == 64 && at < end) {
      long word = bits.wordAt(at);
      run = Long.numberOfLeadingZeros(form.runOfOnes() ? ~word : word);
      at += run;
    }
    return at;
  }

  private long valueAfter(long run, long remainder) throws MalformedGolombCodedSetException {
    boolean lessOne = begun && form.gaps() == RiceForm.Gaps.DIFFERENCE_LESS_ONE;
    long least = lessOne && value != maxValue ? value + 1 : value;
    long room = maxValue - least;
    long gap = run << form.remainderBits() | remainder;
    if ((lessOne && value == maxValue)
        || Long.compareUnsigned(run, room >>> form.remainderBits()) > 0
        || Long.compareUnsigned(gap, room) > 0) {
      throw new MalformedGolombCodedSetException(
          "a value must be at most "
              + Long.toUnsignedString(maxValue)
              + ", the one whose code begins at bit "
              + position
              + " is more");
    }
    if (gap == 0 && form.gaps() == RiceForm.Gaps.DIFFERENCE_BUT_ZERO) {
      throw new MalformedGolombCodedSetException(
          "a difference must be at least 1, the one whose code begins at bit "
              + position
              + " is 0");
    }
    return least + gap;
  }
}
