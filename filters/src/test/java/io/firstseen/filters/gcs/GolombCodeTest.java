package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GolombCodeTest {
  private static final BigDecimal LN_2 =
      new BigDecimal("0.693147180559945309417232121458176568075500134360255254120680009");

  @Test
  void codesAnyNumberUnderAnyParameter() {
    long[] parameters = {1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 710, 1L << 31, -1, -2, 1L << 63};
    for (long parameter : parameters) {
      GolombCode code = new GolombCode(parameter);
      for (long quotient = 0; quotient < 3; quotient++) {
        for (long remainder : new long[] {0, 1, parameter / 2, parameter - 2, parameter - 1}) {
          BigInteger number =
              unsigned(parameter).multiply(BigInteger.valueOf(quotient)).add(unsigned(remainder));
          if (Long.compareUnsigned(remainder, parameter) >= 0 || number.bitLength() > 64) {
            continue;
          }
          BitWriter out = new BitWriter(0);
          out.write(0, 3);
          code.write(out, number.longValue());
          long end = out.bitLength();
          out.write(-1, 64);
          BitReader in = new BitReader(ByteBuffer.wrap(out.toBytes()));
          assertThat(in.onesAt(3)).isEqualTo(quotient);
          long found = code.remainderAt(in, 3 + quotient + 1);
          assertThat(found).isEqualTo(remainder);
          assertThat(3 + quotient + 1 + code.remainderBits(found)).isEqualTo(end);
          assertThat(end - 3).isGreaterThanOrEqualTo(code.minBits());
        }
      }
    }
  }

  /** The example of truncated binary in every textbook: five values in 00, 01, 10, 110, 111. */
  @ParameterizedTest
  @CsvSource({"0,000", "1,001", "2,010", "3,0110", "4,0111", "5,1000", "14,110111"})
  void writesTheTextbookCode(long number, String bits) {
    BitWriter out = new BitWriter(0);
    new GolombCode(5).write(out, number);
    assertThat(out.bitLength()).isEqualTo(bits.length());
    assertThat(new BitReader(ByteBuffer.wrap(out.toBytes())).bitsAt(0, bits.length()))
        .isEqualTo(Long.parseLong(bits, 2));
  }

  @Property(seed = "42")
  void choosesTheRoundedOptimum(
      @ForAll @LongRange(min = 1, max = 1L << 40) long count,
      @ForAll @IntRange(min = 1, max = 58) int valueBits) {
    BigDecimal exact =
        new BigDecimal(BigInteger.ONE.shiftLeft(valueBits))
            .multiply(LN_2)
            .divide(BigDecimal.valueOf(count), 40, RoundingMode.HALF_UP);
    long rounded = exact.setScale(0, RoundingMode.HALF_UP).longValueExact();
    assertThat(GolombCode.parameterFor(count, valueBits)).isEqualTo(Math.max(1, rounded));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 20, 1",
    "1, 1, 1",
    "1, 20, 726817",
    "1048576, 30, 710",
    "1024, 10, 1",
    "1, 64, 12786308645202655660",
    "2, 64, 6393154322601327830",
  })
  void choosesTheKnownParameters(long count, int valueBits, String expected) {
    assertThat(GolombCode.parameterFor(count, valueBits))
        .isEqualTo(Long.parseUnsignedLong(expected));
  }

  private static BigInteger unsigned(long value) {
    return new BigInteger(Long.toUnsignedString(value));
  }
}
