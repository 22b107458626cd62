package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

class UnsignedSortTest {
  @Test
  void sortsWhateverTheDistribution() {
    SplittableRandom random = new SplittableRandom(71);
    LongUnaryOperator[] distributions = {
      i -> random.nextLong(),
      i -> random.nextLong() >>> 4 | 5L << 60,
      i -> random.nextLong() & 0xFF,
      i -> random.nextLong() << 60,
      i -> i % 100 == 0 ? random.nextLong() : 77 + (random.nextLong() & 0xFFFFF),
      i -> 0,
      i -> -1,
      i -> i,
      i -> -i,
      i -> i == 0 ? -1 : i,
      i -> 1L << random.nextInt(64),
    };
    for (int length : new int[] {0, 1, 2, 3, 1023, 1024, 1025, 50_000, 300_000}) {
      for (int kind = 0; kind < distributions.length; kind++) {
        long[] numbers = new long[length];
        Arrays.setAll(numbers, distributions[kind]::applyAsLong);
        long[] before = numbers.clone();
        long[] expected =
            Arrays.stream(numbers)
                .map(x -> x ^ Long.MIN_VALUE)
                .sorted()
                .map(x -> x ^ Long.MIN_VALUE)
                .toArray();
        for (int parts : new int[] {1, 2, 3, 16}) {
          long[] sorted = UnsignedSort.sorted(numbers, parts);
          assertThat(Arrays.equals(sorted, expected))
              .as("%d of kind %d in %d parts", length, kind, parts)
              .isTrue();
        }
        assertThat(Arrays.equals(numbers, before)).as("left alone").isTrue();
      }
    }
  }
}
