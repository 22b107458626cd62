package io.firstseen.filters.gcs.interop;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.gcs.interop.RiceForm.Gaps;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every form against a model that writes bits as characters. */
class RiceFormTest {
  private static final int MAX_REMAINDER_BITS = 31;

  static Stream<RiceForm> forms() {
    // That of the original, of BIP 158, of golombset and of casper.
    return Stream.iterate(0, k -> k + 1)
        .limit(MAX_REMAINDER_BITS + 1)
        .flatMap(
            k ->
                Stream.of(
                    new RiceForm(k, Gaps.DIFFERENCE_BUT_ZERO, true, false),
                    new RiceForm(Math.max(7, k), Gaps.DIFFERENCE, true, false),
                    new RiceForm(k, Gaps.DIFFERENCE_LESS_ONE, true, true),
                    new RiceForm(k, Gaps.DIFFERENCE_LESS_ONE, false, false)));
  }

  @ParameterizedTest
  @MethodSource("forms")
  void writesTheModelsBitsAndReadsTheValuesBack(RiceForm form) throws Exception {
    SplittableRandom random = new SplittableRandom(form.remainderBits());
    BitSet bitsInLastByte = new BitSet();
    for (int round = 0; round < 150; round++) {
      int headerBits = round % 17;
      long header = random.nextLong() >>> 1 >>> (63 - headerBits);
      long[] values = randomValues(random, round % 13, form);
      String bits = modelBits(header, headerBits, values, form);
      bitsInLastByte.set(bits.length() & 7);
      byte[] bytes = form.encode(header, headerBits, values);
      assertThat(asCharacters(bytes)).isEqualTo(padded(bits, form));
      CodedSet set = new CodedSet(bytes, headerBits, form, -1, Map.of(), key -> 0, false);
      assertThat(Vectors.values(set))
          .containsExactly(
              form.gaps() == Gaps.DIFFERENCE_BUT_ZERO
                  ? Arrays.stream(values).filter(value -> value != 0).distinct().toArray()
                  : values);
    }
    assertThat(bitsInLastByte.cardinality())
        .as("every length modulo 8, full bytes too")
        .isEqualTo(8);
  }

  /**
   * Sorted values; some are 0, some are repeated if the form allows it, and gaps have runs of about
   * ten bits.
   */
  private static long[] randomValues(SplittableRandom random, int count, RiceForm form) {
    long bound = 10L << form.remainderBits();
    long[] values = new long[count];
    long before = 0;
    for (int i = 0; i < count; i++) {
      long step = random.nextInt(4) == 0 ? 0 : random.nextLong(bound);
      if (i > 0 && form.gaps() == Gaps.DIFFERENCE_LESS_ONE) {
        step++;
      }
      before += step;
      values[i] = before;
    }
    return values;
  }

  private static String modelBits(long header, int headerBits, long[] values, RiceForm form) {
    StringBuilder bits = new StringBuilder(binary(header, headerBits));
    long before = form.gaps() == Gaps.DIFFERENCE_LESS_ONE ? -1 : 0;
    for (long value : values) {
      long gap = value - before - (form.gaps() == Gaps.DIFFERENCE_LESS_ONE ? 1 : 0);
      before = value;
      if (gap == 0 && form.gaps() == Gaps.DIFFERENCE_BUT_ZERO) {
        continue;
      }
      int quotient = (int) (gap >> form.remainderBits());
      bits.append((form.runOfOnes() ? "1" : "0").repeat(quotient));
      bits.append(form.runOfOnes() ? "0" : "1");
      bits.append(binary(gap, form.remainderBits()));
    }
    return bits.toString();
  }

  private static String padded(String bits, RiceForm form) {
    return bits + (form.paddedWithOnes() ? "1" : "0").repeat(-bits.length() & 7);
  }

  private static String binary(long number, int width) {
    String digits = Long.toBinaryString(number);
    digits = "0".repeat(64 - digits.length()) + digits;
    return digits.substring(64 - width);
  }

  private static String asCharacters(byte[] bytes) {
    StringBuilder bits = new StringBuilder();
    for (byte b : bytes) {
      bits.append(binary(b, 8));
    }
    return bits.toString();
  }
}
