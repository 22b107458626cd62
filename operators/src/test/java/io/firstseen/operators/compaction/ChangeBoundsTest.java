package io.firstseen.operators.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChangeBoundsTest {

  private static final ChangeBounds BOUNDS = new ChangeBounds(0.5, 10, 1000);

  @ParameterizedTest
  @CsvSource({
    "1000,500,false", "1000,499,true", "1000,0,true", "999,0,false", "0,0,false",
    "1000,10000,false", "1000,10001,true", "5,10000,false", "5,10001,true", "0,10000,false",
    "2000,20000,false", "2000,20001,true", "1099511627776,0,true"
  })
  void aJumpBeyondTheBoundsIsABreach(long published, long count, boolean breach) {
    assertThat(BOUNDS.breach(published, count).isPresent()).isEqualTo(breach);
    assertThat(ChangeBounds.NONE.breach(published, count)).isEmpty();
  }

  @Test
  void theBreachNamesTheBound() {
    assertThat(BOUNDS.breach(1001, 500))
        .hasValue("a fall by at most 0.5 (--max-fall) would leave at least 501");
    assertThat(BOUNDS.breach(1001, 10_011))
        .hasValue("a growth to at most 10.0 times as many (--max-growth) would give at most 10010");
  }

  @Test
  void whatIsNoBoundIsRefused() {
    assertThat(catchIllegalArgumentException(() -> new ChangeBounds(Double.NaN, 2, 0)))
        .hasMessageContainingAll("maxFall", "[0, 1]", "NaN");
    assertThat(catchIllegalArgumentException(() -> new ChangeBounds(1.1, 2, 0)))
        .hasMessageContainingAll("maxFall", "[0, 1]", "1.1");
    assertThat(catchIllegalArgumentException(() -> new ChangeBounds(1, 0.9, 0)))
        .hasMessageContainingAll("maxGrowth", "at least 1", "0.9");
    assertThat(catchIllegalArgumentException(() -> new ChangeBounds(1, 1, -1)))
        .hasMessageContainingAll("floor", "at least 0", "-1");
  }
}
