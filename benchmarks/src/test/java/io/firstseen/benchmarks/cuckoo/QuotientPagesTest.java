package io.firstseen.benchmarks.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.benchmarks.cuckoo.QuotientPages.Shape;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class QuotientPagesTest {
  private static final long SEED = 20261124;

  @Test
  void answersAsASetOfFingerprintsWhilePagesSplitAndKeysGo() {
    // So few fingerprints that many keys share one.
    Shape shape = new Shape(192, 9);
    QuotientPages filter = new QuotientPages(shape);
    Map<Long, Integer> copies = new HashMap<>();
    List<Long> live = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 60_000; i++) {
      boolean deletes = random.nextInt(i % 20_000 < 12_000 ? 4 : 1) == 0 && !live.isEmpty();
      if (deletes) {
        int at = random.nextInt(live.size());
        long hash = live.get(at);
        live.set(at, live.get(live.size() - 1));
        live.remove(live.size() - 1);
        if (!filter.delete(hash)) {
          throw new AssertionError("an inserted key was not there, step " + i);
        }
        copies.merge(fingerprint(shape, hash), -1, Integer::sum);
      } else {
        long hash = random.nextLong();
        live.add(hash);
        filter.insert(hash);
        copies.merge(fingerprint(shape, hash), 1, Integer::sum);
      }
      long probe = random.nextLong();
      boolean held = copies.getOrDefault(fingerprint(shape, probe), 0) > 0;
      if (filter.mightContain(probe) != held) {
        throw new AssertionError("the answer must be " + held + ", step " + i);
      }
    }
    assertThat(filter.count()).isEqualTo(live.size());
    int[] pages = {0};
    filter.forEachPage(page -> pages[0]++);
    assertThat(pages[0]).isGreaterThan(8);
    for (long hash : live) {
      if (!filter.delete(hash)) {
        throw new AssertionError("a live key was not there");
      }
    }
    assertThat(filter.count()).isZero();
  }

  private static long fingerprint(Shape shape, long hash) {
    long tag = hash >>> (Long.SIZE - shape.tagBits());
    long rest = hash << shape.tagBits() >>> Integer.SIZE;
    return tag * shape.buckets() + ((rest * shape.buckets()) >>> Integer.SIZE);
  }

  @Test
  void keepsItsLawInAtMostThirteenBits() {
    int keys = 300_000;
    Shape shape = Shape.forCapacity(keys, 0.001, 4096);
    QuotientPages filter = new QuotientPages(shape);
    new SplittableRandom(SEED).longs(keys).forEach(filter::insert);
    long probes = 2_000_000;
    long found = new SplittableRandom(SEED + 1).longs(probes).filter(filter::mightContain).count();
    double predicted = shape.predictedFalsePositiveRate(keys);
    assertThat(predicted).isBetween(0.00095, 0.001);
    double sigma = Math.sqrt(predicted * probes);
    assertThat((double) found)
        .isBetween(predicted * probes - 5 * sigma, predicted * probes + 5 * sigma);
    assertThat(8.0 * filter.sizeBytes() / keys).isLessThan(13);
  }
}
