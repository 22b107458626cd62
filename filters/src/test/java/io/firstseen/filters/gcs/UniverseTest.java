package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Scale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UniverseTest {
  private static final BigInteger HASHES = BigInteger.ONE.shiftLeft(64);

  private static BigInteger unsigned(long number) {
    return new BigInteger(Long.toUnsignedString(number));
  }

  @Property(seed = "43")
  void dividesTheHashesEvenly(
      @ForAll @LongRange(min = 1, max = 1L << 31) long buckets,
      @ForAll @LongRange(min = 1, max = 1L << 62) long anyWidth,
      @ForAll @IntRange(max = 62) int shift,
      @ForAll long hash) {
    BigInteger most = HASHES.divide(BigInteger.valueOf(buckets));
    Universe universe =
        new Universe(
            buckets, Math.max(1, BigInteger.valueOf(anyWidth >>> shift).min(most).longValue()));
    BigInteger value = unsigned(hash).multiply(universe.range()).divide(HASHES);
    assertThat(universe.valueOf(hash)).isEqualTo(value.longValue());
    assertThat(universe.holds(value.longValue())).isTrue();
    BigInteger width = BigInteger.valueOf(universe.width());
    assertThat(universe.bucketOf(hash)).isEqualTo(value.divide(width).longValueExact());
    assertThat(universe.placeOf(hash)).isEqualTo(value.mod(width).longValueExact());
    assertThat(universe.bucketOfValue(value.longValue())).isEqualTo(universe.bucketOf(hash));
    assertThat(universe.lowerBound(universe.bucketOf(hash)) + universe.placeOf(hash))
        .isEqualTo(value.longValue());
    assertThat(unsigned(universe.greatest())).isEqualTo(universe.range().subtract(BigInteger.ONE));
  }

  @Property(seed = "45")
  void isTheSmallestThatKeepsTheRate(
      @ForAll @LongRange(max = 1L << 36) long keys,
      @ForAll @DoubleRange(min = 1e-6, max = 0.1) @Scale(9) double rate) {
    Universe universe = Universe.forRate(keys, rate);
    assertThat(universe.keepsRate(keys, rate)).isTrue();
    assertThat(new BigDecimal(keys))
        .isLessThanOrEqualTo(new BigDecimal(rate).multiply(new BigDecimal(universe.range())));
    if (universe.width() > 1) {
      assertThat(new Universe(universe.buckets(), universe.width() - 1).keepsRate(keys, rate))
          .isFalse();
    }
    assertThat(universe.fits(keys)).isTrue();
  }

  @Property(seed = "46")
  void ofBitsIsTheFirstBitsOfAHash(
      @ForAll @IntRange(min = 1, max = 64) int bits,
      @ForAll @LongRange(max = 1L << 33) long anyCount,
      @ForAll long hash) {
    long count = bits < 34 ? Math.min(anyCount, 1L << bits) : anyCount;
    Universe universe = Universe.ofBits(bits, count);
    assertThat(universe.range()).isEqualTo(BigInteger.ONE.shiftLeft(bits));
    assertThat(universe.valueOf(hash)).isEqualTo(hash >>> (64 - bits));
    assertThat(universe.fits(count)).isTrue();
    assertThat(universe.holds(-1)).isEqualTo(bits == 64);
  }

  @Test
  void hasAFewDozenKeysInABucket() {
    assertThat(Universe.forRate(0, 0.001)).isEqualTo(new Universe(1, 1));
    assertThat(Universe.forRate(36, 0.125)).isEqualTo(new Universe(1, 288));
    assertThat(Universe.forRate(37, 0.125)).isEqualTo(new Universe(2, 148));
    assertThat(Universe.forRate(10_000_000, 0.001).buckets()).isEqualTo(277_778);
    assertThat(Universe.forRate(10_000_000, 0.0001).buckets()).isEqualTo(263_158);
    assertThat(Universe.ofBits(60, 1_000_000)).isEqualTo(new Universe(1 << 15, 1L << 45));
    assertThat(Universe.ofBits(64, 0)).isEqualTo(new Universe(4, 1L << 62));
    assertThat(Universe.forRate(70_691, 1.0 / 1024).rateOf(70_691))
        .isBetween(0.9999 / 1024, 1.0 / 1024);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 'buckets; [1, 2147483648]; got 0'",
    "-1, 1, 'buckets; [1, 2147483648]; got 18446744073709551615'",
    "2147483649, 1, 'buckets; [1, 2147483648]; got 2147483649'",
    "1, 0, 'width; [1, 2^62]; got 0'",
    "1, 4611686018427387905, 'width; [1, 2^62]; got 4611686018427387905'",
    "5, 4611686018427387904, 'buckets · width; 2^64; got 5 · 4611686018427387904'",
  })
  void refusesWhatIsOutOfRange(long buckets, long width, String facts) {
    assertThatThrownBy(() -> new Universe(buckets, width))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @Test
  void hasMoreBucketsThanKeysNeedWhereOneWereTooWide() {
    Universe universe = Universe.forRate(5, 1e-18);
    assertThat(universe.buckets()).isEqualTo(4);
    assertThat(universe.keepsRate(5, 1e-18)).isTrue();
  }

  @Test
  void refusesMoreValuesThanHashes() {
    assertThatThrownBy(() -> Universe.forRate(1L << 40, 1e-9))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("1099511627776 keys", "1.0E-9", "64 bits");
    assertThatThrownBy(() -> Universe.forRate(-1, 0.1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Universe.ofBits(65, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("bits", "[1, 64]", "65");
  }
}
