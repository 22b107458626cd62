package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The effect of deleting keys that were never admitted, on a filter at its capacity and the default
 * rate. The README's figures come from this test.
 */
class DeletesOfAbsentKeysTest {
  private static final int CAPACITY = 1_000_000;
  private static final double RATE = 0.001;
  private static final int DELETES = 1_000_000;

  private final CuckooFilter filter = CuckooFilter.forCapacity(CAPACITY, RATE);
  private final long[] admitted = new long[CAPACITY];
  private final List<Long> dropped = new ArrayList<>();

  @BeforeEach
  void fill() {
    SplittableRandom random = new SplittableRandom(20261120);
    while (filter.count() < CAPACITY) {
      long key = random.nextLong();
      if (filter.insertIfAbsent(key) == InsertionResult.STORED) {
        admitted[(int) filter.count() - 1] = key;
      } else {
        dropped.add(key);
      }
    }
  }

  private int missing() {
    int missing = 0;
    for (long key : admitted) {
      missing += filter.mightContain(key) ? 0 : 1;
    }
    return missing;
  }

  @Test
  void aMillionOfThemRemoveAsManyKeysAsTheRateSaysAndLoseNoNewKey() {
    long[] fresh = new SplittableRandom(2).longs(DELETES).toArray();
    boolean[] passed = new boolean[fresh.length];
    for (int i = 0; i < fresh.length; i++) {
      passed[i] = !filter.mightContain(fresh[i]);
    }
    SplittableRandom absentKeys = new SplittableRandom(1);
    double expected = 0;
    int removed = 0;
    for (int i = 0; i < DELETES; i++) {
      expected += filter.predictedFalsePositiveRate();
      removed += filter.delete(absentKeys.nextLong()) ? 1 : 0;
    }
    assertThat(expected).isBetween(0.9 * RATE * DELETES, RATE * DELETES);
    assertThat((double) removed).isCloseTo(expected, within(5 * Math.sqrt(expected)));
    assertThat(removed).as("the README's figure").isEqualTo(956);
    assertThat(missing()).as("each removes one key that lives").isEqualTo(removed);
    for (int i = 0; i < fresh.length; i++) {
      if (passed[i] && filter.mightContain(fresh[i])) {
        throw new AssertionError("lost: new key " + i);
      }
    }

    long accepted = 0;
    for (long key : admitted) {
      accepted += filter.insertIfAbsent(key) == InsertionResult.STORED ? 1 : 0;
    }
    assertThat(accepted).as("accepted once more when they come again").isEqualTo(removed);
    assertThat(missing()).isZero();
  }

  @Test
  void deletingADroppedKeyRemovesAnotherForCertain() {
    assertThat(dropped).hasSizeBetween(350, 600);
    int removed = 0;
    for (long key : dropped) {
      removed += filter.delete(key) ? 1 : 0;
    }
    // Two dropped keys may have had one and the same in their way: the second finds it gone.
    assertThat(removed).isGreaterThanOrEqualTo(dropped.size() - 2);
    assertThat(missing()).isEqualTo(removed);
  }
}
