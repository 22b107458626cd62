package io.firstseen.filters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of every {@link MembershipFilter}; each filter has one subclass. */
public abstract class MembershipFilterContract {
  /** A filter made for these distinct, uniform hashes at this rate, and holding them. */
  protected abstract MembershipFilter filled(long[] hashes, double falsePositiveRate);

  private static long[] hashes(int count, long seed) {
    return new SplittableRandom(seed).longs(count).toArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 100, 50_000})
  void everyKeyPutInIsFound(int count) {
    long[] hashes = hashes(count, count);
    MembershipFilter filter = filled(hashes, 0.001);
    for (long hash : hashes) {
      assertThat(filter.mightContain(hash)).isTrue();
    }
  }

  @Test
  void anEmptyFilterHoldsNothing() {
    MembershipFilter filter = filled(new long[0], 0.01);
    assertThat(filter.predictedFalsePositiveRate()).isZero();
    for (long hash : hashes(1_000, 1)) {
      assertThat(filter.mightContain(hash)).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({"20, 0.1", "300, 0.01", "20000, 0.1", "20000, 0.01", "20000, 0.001"})
  void theRateIsThePredictedOneWithinFiveSigma(int count, double requested) {
    MembershipFilter filter = filled(hashes(count, 3), requested);
    double predicted = filter.predictedFalsePositiveRate();
    // The requested rate is an expectation; a single filter may be slightly above or below it.
    assertThat(predicted).isPositive().isLessThan(requested * 1.2);
    int probes = 500_000 * Integer.getInteger("firstseen.scale", 1);
    long found = 0;
    for (long absentHash : hashes(probes, 4)) {
      found += filter.mightContain(absentHash) ? 1 : 0;
    }
    double sigma = Math.sqrt(probes * predicted * (1 - predicted));
    assertThat((double) found).isCloseTo(probes * predicted, within(5 * sigma));
  }

  @Test
  void isSmallerThanTheHashes() {
    assertThat(filled(hashes(20_000, 5), 0.01).sizeBytes())
        .isPositive()
        .isLessThan(20_000 * Long.BYTES / 2);
  }

  @Test
  void lookUpsAllocateNothing() {
    MembershipFilter filter = filled(hashes(1_000, 6), 0.01);
    long[] probes = hashes(1_000, 7);
    long found = countFound(filter, probes);
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int round = 0; round < 20; round++) {
      found += countFound(filter, probes);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated).as("bytes for 20,000 look-ups (%d found)", found).isLessThan(10_000);
  }

  private static long countFound(MembershipFilter filter, long[] probes) {
    long found = 0;
    for (long probe : probes) {
      found += filter.mightContain(probe) ? 1 : 0;
    }
    return found;
  }
}
