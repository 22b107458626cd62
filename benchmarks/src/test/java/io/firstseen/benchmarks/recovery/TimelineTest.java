package io.firstseen.benchmarks.recovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchIllegalStateException;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class TimelineTest {

  /** Nothing for 2 s, a tenth of the rate for 3 s, then 1,000 records per second until 20 s. */
  private static Timeline steps() {
    Timeline timeline = new Timeline();
    for (int tenths = 0; tenths <= 200; tenths++) {
      int slow = Math.min(Math.max(tenths - 20, 0), 30);
      int fast = Math.max(tenths - 50, 0);
      timeline.add(tenths / 10.0, 10L * slow + 100L * fast);
    }
    return timeline;
  }

  @Test
  void theFullRateBeginsWhereItLastsForASecond() {
    assertThat(steps().firstRecord()).isCloseTo(2.1, within(1e-9));
    assertThat(steps().steadyRate()).isCloseTo(1000, within(1e-6));
    // From 4.9 s on a second has 910 records.
    assertThat(steps().fullRate(1)).isCloseTo(4.9, within(1e-9));
  }

  @Test
  void theFullRateIsNotBeforeTheFirstRecord() {
    Timeline timeline = new Timeline();
    for (int tenths = 0; tenths <= 100; tenths++) {
      timeline.add(tenths / 10.0, 100L * Math.max(tenths - 20, 0));
    }
    assertThat(timeline.fullRate(1)).isCloseTo(2.1, within(1e-9));
  }

  @Test
  void aMomentIsNoFullRate() {
    Timeline timeline = new Timeline();
    for (int tenths = 0; tenths <= 100; tenths++) {
      // A burst of half a second, a pause, and from 5 s on the steady rate.
      timeline.add(tenths / 10.0, 100L * Math.min(tenths, 5) + 100L * Math.max(tenths - 50, 0));
    }
    assertThat(timeline.fullRate(1)).isCloseTo(4.9, within(1e-9));
  }

  @Test
  void aJobThatOnlyGetsFasterHasNoFullRateBefore() {
    Timeline timeline = new Timeline();
    timeline.add(0, 0);
    timeline.add(1, 1);
    timeline.add(2, 2);
    timeline.add(2.5, 1000);
    assertThat(timeline.fullRate(5)).isNaN();
  }

  @Test
  void withoutARecordThereAreNoFigures() {
    Timeline timeline = new Timeline();
    timeline.add(1, 0);
    assertThat(catchIllegalStateException(timeline::firstRecord)).hasMessageContaining("no record");
  }
}
