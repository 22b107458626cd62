package io.firstseen.benchmarks.shared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StageTest {
  private static final int KEYS = 50_000;

  @Test
  void halfOfTheRecordsAreTheNextNewKeyAndHalfRepeatAnEarlierOne() {
    Stage stage = Stage.halfNew(0, KEYS);
    Set<Long> seen = new HashSet<>();
    long repeats = 0;
    int newFirst = 0;
    for (long ordinal = 0; ordinal < stage.records(); ordinal++) {
      long key = stage.keyAt(ordinal);
      if (key == seen.size()) {
        seen.add(key);
        newFirst += ordinal % 2 == 0 ? 1 : 0;
      } else {
        assertThat(seen.contains(key)).isTrue();
        repeats++;
      }
    }
    assertThat(seen).hasSize(KEYS);
    assertThat(repeats).isEqualTo(KEYS);
    assertThat(newFirst / (double) KEYS).isCloseTo(0.5, within(0.01));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 5, 20, 50, 80, 99})
  void soManyOfAHundredRecordsRepeatAnEarlierKey(int repeatPercent) {
    Stage stage = Stage.someNew(KEYS, repeatPercent);
    Set<Long> seen = new HashSet<>();
    long repeats = 0;
    for (long ordinal = 0; ordinal < stage.records(); ordinal++) {
      long key = stage.keyAt(ordinal);
      if (key == seen.size()) {
        seen.add(key);
      } else {
        repeats += seen.contains(key) ? 1 : 0;
      }
    }
    assertThat(seen).hasSize(KEYS);
    assertThat(seen.size() + repeats)
        .as("each is new or an earlier one")
        .isEqualTo(stage.records());
    assertThat(100.0 * repeats / stage.records()).isCloseTo(repeatPercent, within(0.01));
  }

  @Test
  void repeatsAreDrawnEvenlyFromAllKeysBefore() {
    Stage stage = Stage.noneNew(10, 100_000);
    int[] draws = new int[10];
    for (long ordinal = 0; ordinal < stage.records(); ordinal++) {
      draws[(int) stage.keyAt(ordinal)]++;
    }
    for (int ofKey : draws) {
      assertThat(ofKey).isBetween(9_500, 10_500);
    }
  }

  @Test
  void newKeysGoOnWhereTheKnownOnesEnd() {
    Stage stage = Stage.allNew(100, 3);
    assertThat(new long[] {stage.keyAt(0), stage.keyAt(1), stage.keyAt(2)})
        .containsExactly(100, 101, 102);
  }
}
