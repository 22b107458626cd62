package io.firstseen.filters.gcs.interop;

import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The bytes of kazuho/golombset (Kazuho Oku, 2015; github.com/kazuho/golombset), a library in C for
 * sets of unsigned 64-bit numbers: the parameter k in 5 bits, then for each value its distance from
 * the previous value, less one, as a Rice code (the quotient is a run of ones, ended by a zero),
 * padded with ones to a whole byte. k is floor(log2(greatest value / number of values)), at most
 * 31.
 *
 * <p>A key is a number: decimal digits in ASCII, as the library's command reads them. Keys are not
 * hashed, so the set is exact.
 */
public final class GolombsetCodec implements SetCodec {
  private static final int PARAMETER_BITS = 5;
  private static final int MAX_DIGITS = 20;
  private static final int MAX_SHOWN = 40;

  @Override
  public byte[] encode(List<byte[]> keys) {
    return encode(keys.stream().mapToLong(GolombsetCodec::number).toArray());
  }

  /**
   * Returns the bytes of a set of unsigned numbers, in any order; repeats count once.
   *
   * @throws IllegalArgumentException if it needs more than {@link SetCodec#MAX_BYTES} bytes
   */
  public byte[] encode(long[] numbers) {
    long[] sorted =
        Arrays.stream(numbers)
            .map(number -> number ^ Long.MIN_VALUE)
            .sorted()
            .distinct()
            .map(number -> number ^ Long.MIN_VALUE)
            .toArray();
    int parameter = parameter(sorted);
    return form(parameter).encode(parameter, PARAMETER_BITS, sorted);
  }

  @Override
  public CodedSet decode(byte[] bytes) throws MalformedGolombCodedSetException {
    if (bytes.length == 0) {
      throw new MalformedGolombCodedSetException("the parameter takes 5 bits, got 0 bytes");
    }
    int parameter = (bytes[0] & 0xFF) >>> (8 - PARAMETER_BITS);
    return new CodedSet(
        bytes,
        PARAMETER_BITS,
        form(parameter),
        -1,
        Map.of("k", (long) parameter),
        GolombsetCodec::number,
        false);
  }

  private static int parameter(long[] sorted) {
    if (sorted.length == 0) {
      return 0;
    }
    long mean = Long.divideUnsigned(sorted[sorted.length - 1], sorted.length);
    return Math.max(0, Math.min(31, 63 - Long.numberOfLeadingZeros(mean)));
  }

  private static RiceForm form(int parameter) {
    return new RiceForm(parameter, RiceForm.Gaps.DIFFERENCE_LESS_ONE, true, true);
  }

  private static long number(byte[] key) {
    String digits = new String(key, StandardCharsets.ISO_8859_1);
    try {
      if (digits.length() <= MAX_DIGITS && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
        return Long.parseUnsignedLong(digits);
      }
    } catch (NumberFormatException e) {
      // Falls through to the exception below.
    }
    String shown = digits.length() <= MAX_SHOWN ? digits : digits.substring(0, MAX_SHOWN) + "…";
    throw new IllegalArgumentException(
        "a key must be a whole number in [0, 2^64 - 1], got '" + shown + "'");
  }
}
