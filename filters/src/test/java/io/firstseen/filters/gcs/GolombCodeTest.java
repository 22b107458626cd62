package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.SplittableRandom;
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
  void dividesAnyNumberByAnyParameter() {
    long[] parameters = {1, 2, 3, 4, 5, 7, 8, 9, 63, 710, 1L << 31, (1L << 62) + 1, -1, 1L << 63};
    SplittableRandom random = new SplittableRandom(61);
    for (long parameter : parameters) {
      GolombCode code = new GolombCode(parameter);
      for (int i = 0; i < 1000; i++) {
        long number = i < 5 ? i - 2 + parameter : random.nextLong() >>> random.nextInt(64);
        assertThat(code.quotient(number)).isEqualTo(Long.divideUnsigned(number, parameter));
      }
    }
  }

  /** Truncated binary of every textbook: 00, 01, 10, 110, 111 for m = 5, and none for m = 1. */
  @ParameterizedTest
  @CsvSource({"1,0,1", "2,1,2", "3,1,1", "4,2,4", "5,2,3", "710,9,314", "1024,10,1024"})
  void splitsRemaindersIntoFieldsAndOneMoreBit(long parameter, int fieldBits, long cutoff) {
    GolombCode code = new GolombCode(parameter);
    assertThat(code.fieldBits()).isEqualTo(fieldBits);
    assertThat(code.minBits()).isEqualTo(fieldBits + 1);
    assertThat(code.cutoff()).isEqualTo(cutoff);
    assertThat(code.hasMore(cutoff - 1)).isFalse();
    assertThat(code.hasMore(cutoff)).isTrue();
  }

  @Test
  void splitsRemaindersOfTheLargestParameters() {
    assertThat(new GolombCode(-1).fieldBits()).isEqualTo(63);
    assertThat(new GolombCode(-1).cutoff()).isEqualTo(1);
    assertThat(new GolombCode(1L << 63).cutoff()).isEqualTo(1L << 63);
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
    assertThat(GolombCode.parameterFor(count, BigInteger.ONE.shiftLeft(valueBits)))
        .isEqualTo(Math.max(1, rounded));
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
    assertThat(GolombCode.parameterFor(count, BigInteger.ONE.shiftLeft(valueBits)))
        .isEqualTo(Long.parseUnsignedLong(expected));
  }
}
