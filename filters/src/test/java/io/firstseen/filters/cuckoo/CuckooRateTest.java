package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.cuckoo.TextbookCuckoo.Defect;
import java.util.SplittableRandom;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CuckooRateTest {
  private static final long SEED = 20261120;
  private static final int PROBES =
      Integer.getInteger("firstseen.scale", 1) == 1 ? 1_000_000 : 2_000_000;

  private static long falsePositives(LongPredicate filter) {
    return new SplittableRandom(SEED + 1).longs(PROBES).filter(filter).count();
  }

  /**
   * Within 5 σ of 2 n / 2^P, and of what the filter predicts, which differs by terms of order 2.
   */
  private static void assertRateFollowsTheLaw(CuckooFilter filter) {
    double predicted = filter.predictedFalsePositiveRate();
    double law = 2.0 * filter.count() / Math.pow(2, filter.shape().identityBits());
    assertThat(predicted).isCloseTo(law, within(law * (0.01 + law)));
    double sigma = Math.sqrt(PROBES * predicted * (1 - predicted));
    assertThat((double) falsePositives(filter::mightContain))
        .as("false positives of %d probes at %d keys", PROBES, filter.count())
        .isCloseTo(PROBES * predicted, within(5 * sigma));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.01, 0.001, 0.0001})
  void theRateFollowsTheLawFromAThousandKeysToTwiceTheEstimateAndBack(double rate) {
    int estimate = 64_000;
    CuckooFilter filter = CuckooFilter.forCapacity(estimate, rate);
    long[] keys = new SplittableRandom(SEED).longs(2L * estimate).toArray();
    for (int count : new int[] {1_000, estimate / 8, estimate / 2, estimate, 2 * estimate}) {
      for (int i = (int) filter.count(); i < count; i++) {
        assertThat(filter.insert(keys[i])).isEqualTo(InsertionResult.STORED);
      }
      assertRateFollowsTheLaw(filter);
      if (count <= estimate) {
        assertThat(filter.predictedFalsePositiveRate()).isLessThanOrEqualTo(rate * 1.01);
      }
    }
    for (int i = 0; i < keys.length; i += 2) {
      assertThat(filter.delete(keys[i])).isTrue();
    }
    assertRateFollowsTheLaw(filter);
    for (int i = 1; i < keys.length; i += 2) {
      assertThat(filter.mightContain(keys[i])).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.01, 0.001, 0.0001})
  void itDoesSoFarPastTheEstimateAndWithAllRoomFromTheStart(double rate) {
    long[] keys = new SplittableRandom(SEED).longs(60_000).toArray();
    CuckooFilter outgrown = CuckooFilter.forCapacity(1_000, rate);
    CuckooFilter sized = CuckooFilter.sized(60_000, rate);
    for (long key : keys) {
      assertThat(outgrown.insert(key)).isNotEqualTo(InsertionResult.PRESENT);
      assertThat(sized.insert(key)).isEqualTo(InsertionResult.STORED);
    }
    assertRateFollowsTheLaw(outgrown);
    assertRateFollowsTheLaw(sized);
    for (long key : keys) {
      assertThat(outgrown.mightContain(key)).isTrue();
      assertThat(sized.mightContain(key)).isTrue();
    }
  }

  /**
   * The classic forms: with 4 slots per bucket at a load of 95 %, fingerprints of 8 bits are known
   * to give about 3 % (seiflotfy/cuckoofilter), and 16 bits about 0.01 % (panmari/cuckoofilter),
   * both by 2 · 4 / 2^f of Fan et al. 2014, section 5.1. This filter, with identities as long as
   * bucket number and fingerprint together, has the same rate.
   */
  @ParameterizedTest
  @CsvSource({"8, 0.030", "16, 0.000117"})
  void theClassicFormsHaveTheirRates(int fingerprintBits, double known) {
    int bucketBits = 15;
    int keys = (int) (0.95 * 4 * (1 << bucketBits));
    TextbookCuckoo classic =
        new TextbookCuckoo(bucketBits + fingerprintBits, bucketBits, Defect.NONE);
    CuckooFilter filter = CuckooFilter.forCapacity(keys, known);
    assertThat(filter.shape().identityBits()).isEqualTo(bucketBits + fingerprintBits);
    for (long hash : new SplittableRandom(SEED).longs(keys).toArray()) {
      classic.insert(hash);
      filter.insert(hash);
    }
    assertThat(classic.slots()).as("slots that a classic table needs").isEqualTo(4 << bucketBits);
    double tolerance = 5 * Math.sqrt(PROBES * known) + 0.02 * PROBES * known;
    for (LongPredicate either : new LongPredicate[] {classic::mightContain, filter::mightContain}) {
      assertThat((double) falsePositives(either)).isCloseTo(PROBES * known, within(tolerance));
    }
    assertRateFollowsTheLaw(filter);
  }

  /** The ninth copy of a key, for which the classic form kicks slots without success. */
  @Test
  void theNinthCopyOfAKeyDoesNoHarm() {
    CuckooFilter filter = CuckooFilter.forCapacity(100_000, 0.03);
    long[] keys = new SplittableRandom(SEED).longs(100_000).toArray();
    for (long key : keys) {
      filter.insert(key);
    }
    long bytes = filter.sizeBytes();
    for (int i = 0; i < 1_000; i++) {
      int copies = 1;
      while (filter.insert(keys[i]) == InsertionResult.STORED) {
        copies++;
      }
      assertThat(copies).isLessThanOrEqualTo(8);
      assertThat(filter.insert(keys[i])).isEqualTo(InsertionResult.SATURATED);
    }
    for (long key : keys) {
      assertThat(filter.mightContain(key)).isTrue();
    }
    assertThat(filter.sizeBytes()).isLessThan(bytes + bytes / 10);
  }
}
