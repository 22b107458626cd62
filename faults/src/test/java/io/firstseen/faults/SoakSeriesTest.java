package io.firstseen.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.faults.SoakSeries.Kind;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SoakSeriesTest {
  private static SoakSeries series(Kind kind, double... values) {
    return new SoakSeries(
        "x", kind, IntStream.range(0, values.length).mapToObj(i -> values[i]).toList());
  }

  @Test
  void aHeapMayGrowByFivePercent() {
    assertThat(series(Kind.HEAP, 1e6, 1e6, 1e6, 100e6, 90e6, 110e6, 105e6, 99e6, 300e6).growth())
        .isEmpty();
    assertThat(series(Kind.HEAP, 1e6, 1e6, 1e6, 100e6, 90e6, 110e6, 106e6, 99e6, 300e6).growth())
        .contains("x, heap, MB: grew from 100.0 (at most 110.0) to 106.0 (at least 99.0)");
  }

  @Test
  void whatIsAlwaysMoreThanItWasGrows() {
    for (Kind kind : Kind.values()) {
      if (kind != Kind.HEAP) {
        assertThat(series(kind, 1, 2, 3, 1e8, 3e8, 1e8, 3e8, 4e8, 5e8).growth()).isEmpty();
        assertThat(series(kind, 1, 2, 3, 1e8, 3e8, 1e8, 3.1e8, 3.1e8, 3.1e8).growth()).isPresent();
      }
    }
  }

  @Test
  void aLittleMoreIsNoGrowthButOfThreadsAndFiles() {
    for (Kind kind : Kind.values()) {
      boolean isCounted = kind == Kind.THREADS || kind == Kind.FILES;
      assertThat(
              series(kind, 1, 2, 3, 100e6, 100e6, 100e6, 104e6, 104e6, 104e6).growth().isPresent())
          .isEqualTo(isCounted);
    }
    assertThat(series(Kind.TOPIC, 1, 2, 3, 10e6, 10e6, 10e6, 60e6, 60e6, 60e6).growth()).isEmpty();
  }

  @Test
  void aLineHasTheMediansOfTheThirds() {
    assertThat(series(Kind.FILES, 1, 2, 3, 10, 30, 10, 31, 40, 39).line())
        .isEqualTo("| x | open files | 2.0 | 10.0 | 39.0 | 40.0 |%n".formatted());
  }
}
