package io.firstseen.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShortenedKeySetTest {
  private static final long SEED = 20261120;

  private static ShortenedKeySet filled(int keys, double rate, SplittableRandom random) {
    ShortenedKeySet set = ShortenedKeySet.forCapacity(keys, rate);
    for (int i = 0; i < keys; i++) {
      set.add(random.nextLong());
    }
    return set;
  }

  @ParameterizedTest
  @CsvSource({"1, 0.1", "2, 0.01", "10, 0.1", "1000, 1e-9", "100000, 0.001", "100000, 1e-15"})
  void claimsEveryKey(int keys, double rate) {
    ShortenedKeySet set = filled(keys, rate, new SplittableRandom(SEED));
    SplittableRandom again = new SplittableRandom(SEED);
    for (int i = 0; i < keys; i++) {
      assertThat(set.mightContain(again.nextLong())).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 0.1",
    "2, 0.1",
    "3, 0.01",
    "10, 0.1",
    "1000, 0.01",
    "100000, 0.01",
    "100000, 0.001"
  })
  void errsAsPredicted(int keys, double rate) {
    SplittableRandom random = new SplittableRandom(SEED);
    // Use many tables, because the rates of small tables vary.
    int tables = Math.max(1, 10_000 / keys);
    int probes = 500_000 * Integer.getInteger("firstseen.scale", 1) / tables;
    long errors = 0;
    double expected = 0;
    double variance = 0;
    for (int table = 0; table < tables; table++) {
      ShortenedKeySet set = filled(keys, rate, random);
      double predicted = set.predictedFalsePositiveRate();
      assertThat(predicted).isPositive().isLessThan(1.05 * rate);
      expected += probes * predicted;
      variance += probes * predicted * (1 - predicted);
      for (int i = 0; i < probes; i++) {
        errors += set.mightContain(random.nextLong()) ? 1 : 0;
      }
    }
    assertThat((double) errors).isCloseTo(expected, within(5 * Math.sqrt(variance)));
  }

  @Test
  void emptyItClaimsNothing() {
    ShortenedKeySet set = ShortenedKeySet.forCapacity(100, 0.01);
    assertThat(set.predictedFalsePositiveRate()).isZero();
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 1000; i++) {
      assertThat(set.mightContain(random.nextLong())).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({"0.01, 10.76", "0.001, 14.6", "0.0001, 18.45"})
  void takesTheFewestBits(double rate, double bitsPerKey) {
    int keys = 100_000;
    double bits = 8.0 * ShortenedKeySet.forCapacity(keys, rate).sizeBytes() / keys;
    assertThat(bits).isCloseTo(bitsPerKey, within(0.03));
  }
}
