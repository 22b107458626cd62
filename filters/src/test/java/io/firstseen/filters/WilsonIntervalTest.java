package io.firstseen.filters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WilsonIntervalTest {
  private static final double Z = 2.575829;

  /** The definition: at its ends the share lies Z standard deviations from what is expected. */
  @ParameterizedTest
  @CsvSource({"1, 10", "5, 10", "9, 10", "37, 4000000", "40000, 4000000"})
  void itsEndsAreWhereTheShareIsJustCredible(long events, long trials) {
    WilsonInterval interval = WilsonInterval.of(events, trials);
    double share = (double) events / trials;
    assertThat(share).isBetween(interval.low(), interval.high());
    assertThat(deviations(share, interval.low(), trials)).isCloseTo(Z, within(1e-5));
    assertThat(deviations(share, interval.high(), trials)).isCloseTo(-Z, within(1e-5));
  }

  private static double deviations(double share, double expected, long trials) {
    return (share - expected) / Math.sqrt(expected * (1 - expected) / trials);
  }

  @Test
  void itIsOneSidedWhereNothingOrAllWasSeen() {
    assertThat(WilsonInterval.of(0, 1000).low()).isZero();
    assertThat(WilsonInterval.of(0, 1000).high()).isCloseTo(Z * Z / (1000 + Z * Z), within(1e-8));
    assertThat(WilsonInterval.of(1000, 1000).high()).isEqualTo(1);
    assertThat(WilsonInterval.of(1000, 1000).low()).isCloseTo(1000 / (1000 + Z * Z), within(1e-8));
  }

  @Test
  void itHoldsTheTrueProbabilityAsOftenAsItSays() {
    SplittableRandom random = new SplittableRandom(1);
    int held = 0;
    int experiments = 4000;
    for (int i = 0; i < experiments; i++) {
      long events = random.doubles(500).filter(x -> x < 0.1).count();
      WilsonInterval interval = WilsonInterval.of(events, 500);
      held += interval.low() <= 0.1 && 0.1 <= interval.high() ? 1 : 0;
    }
    assertThat((double) held / experiments).isBetween(0.984, 0.996);
  }

  @Test
  void refusesCountsThatCannotBe() {
    assertThatThrownBy(() -> WilsonInterval.of(0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("trials at least 1, got 0 of 0");
    assertThatThrownBy(() -> WilsonInterval.of(2, 1)).isInstanceOf(IllegalArgumentException.class);
  }
}
