package io.firstseen.filters.bloom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BloomShapeTest {
  /**
   * The textbook formula is 1.4427 log2(1/p) bits per key; rounding k costs a little: 9.593, not
   * 9.585.
   */
  @ParameterizedTest
  @CsvSource({"0.5, 1, 1.4427", "0.25, 2, 2.8854", "0.01, 7, 9.5930", "0.001, 10, 14.3776"})
  void takesAsManyBitsAsTheTextbook(double rate, int hashes, double bitsPerKey) {
    BloomShape shape = BloomShape.forCapacity(1_000_000, rate);
    assertThat(shape.hashes()).isEqualTo(hashes);
    assertThat(shape.bits() / 1e6).isCloseTo(bitsPerKey, within(0.0005));
  }

  @Property(seed = "1")
  void keepsTheRateAtItsCapacityAndIsTheSmallestToDoSo(
      @ForAll @LongRange(min = 1, max = 100_000_000) long keys,
      @ForAll @DoubleRange(min = 1, max = 30) double halvings) {
    double rate = Math.pow(2, -halvings);
    BloomShape shape = BloomShape.forCapacity(keys, rate);
    assertThat(shape.predictedFalsePositiveRate(keys)).isLessThanOrEqualTo(rate * (1 + 1e-9));
    if (shape.bits() > Long.SIZE) {
      BloomShape smaller = new BloomShape(shape.bits() - Long.SIZE, shape.hashes());
      assertThat(smaller.predictedFalsePositiveRate(keys)).isGreaterThan(rate * (1 - 1e-9));
    }
  }

  @Test
  void theRateGrowsFromNothingToCertainty() {
    BloomShape shape = BloomShape.forCapacity(1_000, 0.01);
    assertThat(shape.predictedFalsePositiveRate(0)).isZero();
    assertThat(shape.predictedFalsePositiveRate(500)).isLessThan(0.001);
    assertThat(shape.predictedFalsePositiveRate(2_000)).isGreaterThan(0.1);
    assertThat(shape.predictedFalsePositiveRate(Long.MAX_VALUE)).isEqualTo(1);
  }

  @Test
  void theSmallestRatesTakeTheMostHashes() {
    assertThat(BloomShape.forCapacity(1, Double.MIN_VALUE).hashes())
        .isEqualTo(BloomShape.MAX_HASHES);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -0.1, 0.500001, 1, Double.NaN, Double.POSITIVE_INFINITY})
  void otherRatesAreRefused(double rate) {
    assertThatThrownBy(() -> BloomShape.forCapacity(1, rate))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("falsePositiveRate", "(0, 0.5]", "got " + rate);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, Long.MIN_VALUE})
  void otherCapacitiesAreRefused(long keys) {
    assertThatThrownBy(() -> BloomShape.forCapacity(keys, 0.01))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("expectedKeys", "at least 1", "got " + keys);
  }

  @Test
  void whatFitsNoByteArrayIsRefused() {
    assertThatThrownBy(() -> BloomShape.forCapacity(2_000_000_000, 0.01))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching(
            "a Bloom filter must have at most 17179868928 bits, "
                + "but 2000000000 keys at a rate of 0.01 need 1918\\d{7}");
    assertThatThrownBy(() -> BloomShape.forCapacity(Long.MAX_VALUE, Double.MIN_VALUE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 17179868928 bits");
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "-64, 1", "63, 1", "100, 1", "17179868992, 1", "64, 0", "64, 65", "64, -1"})
  void otherSizesAreRefused(long bits, int hashes) {
    assertThatThrownBy(() -> new BloomShape(bits, hashes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching("(bits|hashes) must be .*, got -?\\d+");
  }

  @Test
  void negativeKeysHaveNoRate() {
    assertThatThrownBy(() -> new BloomShape(64, 1).predictedFalsePositiveRate(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("keys", "at least 0", "-1");
  }
}
