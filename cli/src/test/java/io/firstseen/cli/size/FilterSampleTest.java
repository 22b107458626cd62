package io.firstseen.cli.size;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.cuckoo.CuckooFilter;
import io.firstseen.filters.cuckoo.CuckooShape;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Holds the sample against whole filters. */
class FilterSampleTest {
  private static final Percentage CLOSE = Percentage.withPercentage(2);

  /** Filters that are full just before and just after their pages split, and in between. */
  @ParameterizedTest
  @CsvSource({"600000, 0.01", "900000, 0.001", "1200000, 0.0001"})
  void aSubtreeHasTheBytesOfTheWholeFilter(int keys, double rate) {
    assertSubtreeHasTheBytesOfTheWholeFilter(keys, rate);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"1500000, 0.01", "2200000, 0.001", "3000000, 0.0001", "4000000, 0.001"})
  void alsoOfALargerFilter(int keys, double rate) {
    assertSubtreeHasTheBytesOfTheWholeFilter(keys, rate);
  }

  private static void assertSubtreeHasTheBytesOfTheWholeFilter(int keys, double rate) {
    CuckooFilter whole = CuckooFilter.forCapacity(keys, rate);
    whole.insertAll(new SplittableRandom(7).longs(keys).toArray());
    FilterSample sample = FilterSample.of(whole.shape().identityBits(), keys, 1, false);

    assertThat(sample.heapBytes() * keys).isCloseTo((double) whole.sizeBytes(), CLOSE);
    assertThat(sample.pages() * keys).isCloseTo(whole.pageCount(), CLOSE);
  }

  @Test
  void smallFiltersAreMeasuredAsTheyAre() {
    int keysOfShard = 7_813;
    CuckooShape shape = CuckooShape.forCapacity(keysOfShard, 0.001);
    SplittableRandom hashes = new SplittableRandom(8);
    long bytes = 0;
    for (int shard = 0; shard < 128; shard++) {
      CuckooFilter filter = new CuckooFilter(shape);
      filter.insertAll(hashes.longs(keysOfShard).toArray());
      bytes += filter.sizeBytes();
    }
    FilterSample sample = FilterSample.of(shape.identityBits(), keysOfShard, 128, false);
    assertThat(sample.heapBytes() * keysOfShard * 128).isCloseTo((double) bytes, CLOSE);
  }

  /** As the benchmark ExpiryRun measured in a checkpoint: 4.06 bits. */
  @Test
  void aTtlAddsFourBits() {
    int bits = CuckooShape.forCapacity(78_125, 0.001).identityBits();
    double without = FilterSample.of(bits, 78_125, 128, false).pageBytes();
    double with = FilterSample.of(bits, 78_125, 128, true).pageBytes();
    assertThat(8 * (with - without)).isBetween(3.9, 4.2);
  }

  @Test
  void thePagesOfATrillionKeysAreMeasuredInMillions() {
    long keysOfShard = 1_000_000_000_000L / 1024;
    int bits = CuckooShape.forCapacity(keysOfShard, 1e-4).identityBits();
    FilterSample sample = FilterSample.of(bits, keysOfShard, 1024, false);
    assertThat(8 * sample.heapBytes()).isBetween(17.0, 21.0);
    assertThat(1 / sample.pages()).isBetween(1_800.0, 4_100.0);
  }
}
