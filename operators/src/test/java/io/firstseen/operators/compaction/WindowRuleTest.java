package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowRuleTest {

  @ParameterizedTest
  @CsvSource({"0,10", "9,10", "10,20", "-1,0", "-10,0", "-11,-10"})
  void anInstantLiesInTheWindowThatEndsAfterIt(long instant, long end) {
    assertThat(new WindowRule(10).endOf(instant)).isEqualTo(end);
  }

  @ParameterizedTest
  @CsvSource({"8,0", "9,10", "10,10", "18,10", "19,20", "-2,-10", "-1,0"})
  void aWatermarkClosesTheWindowsThatNothingCanFallInto(long watermark, long end) {
    assertThat(new WindowRule(10).newestClosedEnd(watermark)).isEqualTo(end);
  }

  @Property(seed = "7")
  void whatMayStillComeLiesInNoClosedWindow(
      @ForAll @LongRange(min = 1, max = 1_000_000) long windowMillis, @ForAll int watermark) {
    WindowRule rule = new WindowRule(windowMillis);
    long closed = rule.newestClosedEnd(watermark);
    assertThat(closed).isLessThanOrEqualTo(watermark + 1L);
    assertThat(rule.endOf(watermark + 1L)).isEqualTo(closed + windowMillis);
  }

  @Test
  void theFirstWatermarkClosesNothing() {
    assertThat(new WindowRule(10).newestClosedEnd(Long.MIN_VALUE)).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void refusesWhatHasNoWindow() {
    assertThatThrownBy(() -> new WindowRule(10).endOf(Long.MAX_VALUE - 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got " + (Long.MAX_VALUE - 3));
    assertThatThrownBy(() -> new WindowRule(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("windowMillis", "at least 1", "got 0");
  }
}
