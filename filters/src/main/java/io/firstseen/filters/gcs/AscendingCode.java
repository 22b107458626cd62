package io.firstseen.filters.gcs;

import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;

/**
 * Codes distinct unsigned numbers in ascending order: one Golomb code after the other, each of the
 * distance to the previous number, less one. The code is for numbers that are read in sequence and
 * not looked up. Uses about as many bits as {@link GolombCodedSet} without its bucket starts. Equal
 * numbers give equal bits; decoding rejects all other bits.
 */
public final class AscendingCode {
  private final long count;
  private final long greatest;
  private final GolombCode code;

  /**
   * Creates the code for a count and range of numbers.
   *
   * @param count how many numbers there are, at least 0
   * @param greatest the greatest number that is possible, unsigned
   * @throws IllegalArgumentException if the range has fewer than {@code count} numbers
   */
  public AscendingCode(long count, long greatest) {
    if (count < 0 || (count > 0 && Long.compareUnsigned(count - 1, greatest) > 0)) {
      throw new IllegalArgumentException(
          "count must be in [0, "
              + Long.toUnsignedString(greatest)
              + " + 1], got "
              + Long.toUnsignedString(count));
    }
    this.count = count;
    this.greatest = greatest;
    BigInteger universe = new BigInteger(Long.toUnsignedString(greatest)).add(BigInteger.ONE);
    this.code = new GolombCode(GolombCode.parameterFor(count, universe));
  }

  /** Returns the minimum number of bits of a coded number. */
  public int minBits() {
    return code.minBits();
  }

  /**
   * Appends the codes of numbers.
   *
   * @throws IllegalArgumentException if the numbers are not ascending, not distinct, out of range,
   *     or not exactly {@code count} of them
   */
  public void encode(PrimitiveIterator.OfLong numbers, BitWriter out) {
    long next = 0;
    long encoded = 0;
    while (numbers.hasNext()) {
      long number = numbers.nextLong();
      if (encoded == count) {
        throw new IllegalArgumentException("there must be " + count + " numbers, got more");
      }
      if (encoded > 0 && Long.compareUnsigned(number, next - 1) <= 0) {
        throw new IllegalArgumentException(
            String.format(
                "numbers must be ascending and distinct, got %s after %s at index %d",
                Long.toUnsignedString(number), Long.toUnsignedString(next - 1), encoded));
      }
      if (Long.compareUnsigned(number, greatest) > 0) {
        throw new IllegalArgumentException(
            "a number must be at most "
                + Long.toUnsignedString(greatest)
                + ", got "
                + Long.toUnsignedString(number));
      }
      write(number - next, out);
      next = number + 1;
      encoded++;
    }
    if (encoded != count) {
      throw new IllegalArgumentException("there must be " + count + " numbers, got " + encoded);
    }
  }

  private void write(long distance, BitWriter out) {
    long quotient = code.quotient(distance);
    long remainder = distance - quotient * code.parameter();
    out.writeUnary(quotient);
    if (code.hasMore(remainder)) {
      out.write(remainder + code.cutoff(), code.fieldBits() + 1);
    } else {
      out.write(remainder, code.fieldBits());
    }
  }

  /**
   * Decodes a range of bits. If the bits are not exactly the codes of {@code count} numbers, the
   * iterator throws {@link UncheckedIOException} with a {@link MalformedGolombCodedSetException}.
   *
   * @param from the bit position where the codes begin
   * @param to the bit position where they end
   */
  public PrimitiveIterator.OfLong decode(BitReader bits, long from, long to) {
    return new Numbers(bits, from, to, 0);
  }

  /**
   * Like {@link #decode}, for codes that are padded with zero bits to a whole byte.
   *
   * @param from the bit position where the codes begin
   * @param to the bit position after the padding, a multiple of 8
   */
  public PrimitiveIterator.OfLong decodeFilled(BitReader bits, long from, long to) {
    return new Numbers(bits, from, to, Byte.SIZE - 1);
  }

  private final class Numbers implements PrimitiveIterator.OfLong {
    private final BitReader bits;
    private final long end;
    private final int maxFilling;
    private long position;
    private long decoded;
    private long next;

    Numbers(BitReader bits, long from, long to, int maxFilling) {
      this.bits = bits;
      this.position = from;
      this.end = to;
      this.maxFilling = maxFilling;
    }

    @Override
    public boolean hasNext() {
      if (decoded < count) {
        return true;
      }
      if (end - position > maxFilling) {
        throw refusal("the codes must end at bit " + end + ", they end at bit " + position);
      }
      if (bits.bitsAt(position, (int) (end - position)) != 0) {
        throw refusal("the bits after the codes, from bit " + position + ", must be 0");
      }
      return false;
    }

    @Override
    public long nextLong() {
      if (!hasNext()) {
        throw new NoSuchElementException("all " + count + " numbers were returned");
      }
      long begin = position;
      long quotient = bits.onesAt(position);
      position += quotient + 1;
      long field = bits.bitsAt(position, code.fieldBits());
      position += code.fieldBits();
      long remainder = field;
      if (code.hasMore(field)) {
        remainder += field - code.cutoff() + bits.bitsAt(position, 1);
        position++;
      }
      if (position > end) {
        throw refusal("the code at bit " + begin + " must end by bit " + end);
      }
      // This reserves values for the numbers that follow, so none of them can wrap around at 2^64.
      long most = greatest - (count - decoded - 1);
      if (code.exceeds(quotient, remainder, most - next)) {
        throw refusal(
            "a number must be at most "
                + Long.toUnsignedString(most)
                + ", the one whose code begins at bit "
                + begin
                + " is more");
      }
      long number = next + quotient * code.parameter() + remainder;
      next = number + 1;
      decoded++;
      return number;
    }

    private UncheckedIOException refusal(String sentence) {
      return new UncheckedIOException(new MalformedGolombCodedSetException(sentence));
    }
  }
}
