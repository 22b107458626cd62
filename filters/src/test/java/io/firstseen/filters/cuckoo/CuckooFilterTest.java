package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.MembershipFilter;
import io.firstseen.filters.MembershipFilterContract;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CuckooFilterTest extends MembershipFilterContract {
  private static final long SEED = 20261120;

  @Override
  protected MembershipFilter filled(long[] hashes, double falsePositiveRate) {
    CuckooFilter filter = CuckooFilter.forCapacity(Math.max(1, hashes.length), falsePositiveRate);
    for (long hash : hashes) {
      filter.insert(hash);
    }
    return filter;
  }

  @Test
  void usesItsSlotsWellWhileItGrows() {
    CuckooFilter filter = CuckooFilter.forCapacity(1_000_000, 0.001);
    SplittableRandom keys = new SplittableRandom(SEED);
    double sum = 0;
    double least = 1;
    int samples = 0;
    for (int i = 1; i <= 1_000_000; i++) {
      filter.insert(keys.nextLong());
      if (i >= 20_000 && i % 5_000 == 0) {
        sum += filter.load();
        least = Math.min(least, filter.load());
        samples++;
      }
    }
    assertThat(sum / samples).isGreaterThan(0.88);
    assertThat(least).isGreaterThan(0.78);
  }

  @Test
  void aFilterOfAHundredKeysIsSmall() {
    CuckooFilter filter = CuckooFilter.forCapacity(100, 0.001);
    SplittableRandom keys = new SplittableRandom(SEED);
    for (int i = 0; i < 100; i++) {
      filter.insert(keys.nextLong());
    }
    assertThat(filter.sizeBytes()).isLessThan(600);
  }

  @ParameterizedTest
  @CsvSource({"1000000, 0.01, 11.8", "1000000, 0.001, 15.2", "1000000, 0.0001, 19.6"})
  void aKeyTakesNoMoreBitsAtTheEstimateThanPromised(int estimate, double rate, double mostBits) {
    assertBitsPerKey(estimate, rate, mostBits);
  }

  @Tag("slow")
  @Test
  void norOfTenMillion() {
    assertBitsPerKey(10_000_000, 0.001, 15.2);
  }

  private static void assertBitsPerKey(int estimate, double rate, double mostBits) {
    CuckooFilter filter = CuckooFilter.forCapacity(estimate, rate);
    SplittableRandom keys = new SplittableRandom(SEED);
    for (int i = 0; i < estimate; i++) {
      filter.insert(keys.nextLong());
    }
    assertThat(8.0 * filter.sizeBytes() / filter.count()).isLessThanOrEqualTo(mostBits);
  }

  @Test
  void deletedKeysReturnTheirMemory() {
    assertDeletedKeysReturnTheirMemory(100_000);
  }

  @Tag("slow")
  @Test
  void deletedKeysOfTenMillionDoToo() {
    assertDeletedKeysReturnTheirMemory(10_000_000);
  }

  private static void assertDeletedKeysReturnTheirMemory(int keys) {
    CuckooFilter filter = CuckooFilter.forCapacity(keys, 0.001);
    long[] hashes = new SplittableRandom(SEED).longs(keys).toArray();
    assertThat(filter.insertAll(hashes)).isEqualTo(keys);
    long full = filter.sizeBytes();
    int left = keys;
    for (int percent = 80; percent >= 5; percent -= 5) {
      int fewer = (int) (keys / 100L * percent);
      assertThat(filter.deleteAll(Arrays.copyOfRange(hashes, fewer, left))).isEqualTo(left - fewer);
      left = fewer;
      CuckooFilter fresh = CuckooFilter.forCapacity(keys, 0.001);
      assertThat(fresh.insertAll(Arrays.copyOf(hashes, left))).isEqualTo(left);
      assertThat((double) filter.sizeBytes() / fresh.sizeBytes())
          .as("%d %%", percent)
          .isBetween(1.0, 2.0);
      assertThat(filter.predictedFalsePositiveRate()).isEqualTo(fresh.predictedFalsePositiveRate());
    }
    // The control: the same bound is missed by a filter that keeps its pages.
    assertThat(full).isGreaterThan(2 * filter.sizeBytes());
    for (int i = 0; i < left; i++) {
      assertThat(filter.mightContain(hashes[i])).isTrue();
    }
    assertThat(filter.deleteAll(Arrays.copyOf(hashes, left))).isEqualTo(left);
    assertThat(filter.pageCount()).isEqualTo(1);
    // An empty list keeps some room.
    assertThat(filter.sizeBytes()).isLessThan(3_000);
  }

  @Test
  void aPageOfFourSlotsTakes94PercentAtTheLeast() {
    CuckooShape shape = new CuckooShape(30);
    PathSearch search = new PathSearch();
    double worst = 1;
    double sum = 0;
    for (int run = 0; run < 200; run++) {
      SplittableRandom keys = new SplittableRandom(SEED + run);
      BucketPage page = new BucketPage(shape, 0, 0, 4, null);
      while (page.insert(shape.identity(keys.nextLong()), 0, search)) {
        // Until one finds no room.
      }
      double load = (double) page.count() / page.slots();
      worst = Math.min(worst, load);
      sum += load;
    }
    assertThat(sum / 200).isGreaterThanOrEqualTo(0.97);
    assertThat(worst).isGreaterThanOrEqualTo(0.94);
  }

  @ParameterizedTest
  @ValueSource(ints = {300, 2_000, 30_000})
  void writingToACopyClonesOnePageAlone(int keys) {
    CuckooFilter filter = CuckooFilter.forCapacity(30_000, 0.001);
    new SplittableRandom(SEED).longs(keys).forEach(filter::insert);
    CuckooFilter copy = filter.copy();
    assertThat(sharedPages(filter, copy)).isEqualTo(filter.pageCount());
    copy.delete(new SplittableRandom(SEED).nextLong());
    assertThat(sharedPages(filter, copy)).isEqualTo(filter.pageCount() - 1);
    assertThat(filter.count()).isEqualTo(copy.count() + 1);
  }

  private static int sharedPages(CuckooFilter one, CuckooFilter other) {
    Set<byte[]> bodies = Collections.newSetFromMap(new IdentityHashMap<>());
    one.forEachPage(page -> bodies.add(page.body));
    int[] shared = {0};
    other.forEachPage(page -> shared[0] += bodies.contains(page.body) ? 1 : 0);
    return shared[0];
  }

  @ParameterizedTest
  @CsvSource({"0, 0.01, expectedKeys", "10, 0, falsePositiveRate", "10, 0.2, falsePositiveRate"})
  void refusesParametersOutOfBounds(long capacity, double rate, String name) {
    assertThatThrownBy(() -> CuckooFilter.forCapacity(capacity, rate))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("got");
  }
}
