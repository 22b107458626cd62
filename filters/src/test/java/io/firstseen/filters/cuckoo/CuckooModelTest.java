package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.cuckoo.TextbookCuckoo.Defect;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CuckooModelTest {
  /** Rates of up to 5 %, 4 % and 1 %: a million operations in all. */
  @ParameterizedTest
  @CsvSource({"20, 25000, 400000", "21, 40000, 400000", "22, 20000, 200000"})
  void agreesWithAMultisetOfAdmittedKeys(int identityBits, int mostKeys, int operations) {
    new FilterModel(FilterOnTheHeap.of(identityBits), mostKeys, identityBits).run(operations);
  }

  /** Slots of few bits, of which a bucket is one word or two, and of so many that it is three. */
  @ParameterizedTest
  @ValueSource(ints = {20, 28, 34, 44})
  void pagesInStateAgreeWithItAsWellAndHaveTheBytesOfTheHeap(int bits) {
    GrowingFilter inState = new FilterModel(new FilterInState(bits), 10_000, 5).run(100_000);
    GrowingFilter onTheHeap = new FilterModel(FilterOnTheHeap.of(bits), 10_000, 5).run(100_000);
    assertThat(inState.toBytes()).isEqualTo(onTheHeap.toBytes());
  }

  @Test
  void frozenPagesStayAsTheyWereAndGetTheSameBytes() {
    AtomicInteger pending = new AtomicInteger();
    FilterWithFrozenPages frozen = new FilterWithFrozenPages(20, pending);
    GrowingFilter last = new FilterModel(frozen, 15_000, 5).run(100_000);
    GrowingFilter onTheHeap = new FilterModel(FilterOnTheHeap.of(20), 15_000, 5).run(100_000);
    assertThat(last.toBytes()).isEqualTo(onTheHeap.toBytes());
    assertThat(pending).hasValueGreaterThan(100);
  }

  @Test
  void pagesThatSplitWithInsertionsWaitingLoseNoneAndGetTheSameBytes() {
    AtomicInteger pending = new AtomicInteger();
    GrowingFilter frozen = new FilterWithFrozenPages(28, pending);
    GrowingFilter direct = FilterOnTheHeap.of(28);
    SplittableRandom random = new SplittableRandom(8);
    for (int i = 0; i < 150_000; i++) {
      long hash = random.nextLong();
      assertThat(frozen.insertIfAbsent(hash)).isEqualTo(direct.insertIfAbsent(hash));
    }
    assertThat(pending).hasValueGreaterThan(50_000);
    assertThat(frozen.toBytes()).isEqualTo(direct.toBytes());
  }

  @Test
  void theTextbookFilterAgreesWithIt() {
    new FilterModel(new TextbookCuckoo(21, 9, Defect.NONE), 40_000, 6).run(300_000);
  }

  /** The controls: each defect that loses or forges a key is found out by the same model. */
  @ParameterizedTest
  @EnumSource(
      names = {
        "VICTIM_DROPPED",
        "ALTERNATE_FROM_WHOLE_IDENTITY",
        "SET_SEMANTICS",
        "SUPPRESSED_DELETED",
        "REPACKING_LOSES_ONE",
        "FINGERPRINT_LIKE_EMPTY"
      })
  void brokenFiltersDoNot(Defect defect) {
    FilterModel model = new FilterModel(new TextbookCuckoo(21, 9, defect), 40_000, 6);
    assertThatThrownBy(() -> model.run(300_000))
        .isInstanceOf(AssertionError.class)
        .hasMessageMatching(
            "broken at operation \\d+ of seed 6: (a live key is found|a delete of a live key is true"
                + "|a key just inserted is found|no ninth copy of a live key is admitted)");
  }

  /**
   * The filter sees of a key only its identity, by one of two equivalent names. So for every key,
   * inserted or not, it answers like an exact multiset of identities, wherever it stores them.
   */
  @Test
  void answersExactlyLikeAMultisetOfIdentities() {
    GrowingFilter filter = FilterOnTheHeap.of(20);
    Map<Long, Integer> identities = new HashMap<>();
    SplittableRandom random = new SplittableRandom(7);
    long[] recent = random.longs(20_000).toArray();
    for (int i = 0; i < 600_000; i++) {
      int at = random.nextInt(recent.length);
      if (random.nextInt(10) == 0) {
        recent[at] = random.nextLong();
      }
      long hash = recent[at];
      long identity = SpecifiedPages.identity(20, hash);
      int held = identities.getOrDefault(identity, 0);
      boolean growing = i / 100_000 % 2 == 0;
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> assertThat(filter.mightContain(hash)).isEqualTo(held > 0);
        case 3 -> {
          InsertionResult expected = held > 0 ? InsertionResult.PRESENT : InsertionResult.STORED;
          assertThat(filter.insertIfAbsent(hash)).isEqualTo(expected);
          identities.put(identity, Math.max(held, 1));
        }
        case 4, 5, 6 -> {
          if (growing || random.nextInt(3) == 0) {
            InsertionResult expected =
                held < 8 ? InsertionResult.STORED : InsertionResult.SATURATED;
            assertThat(filter.insert(hash)).isEqualTo(expected);
            identities.put(identity, Math.min(held + 1, 8));
          }
        }
        default -> {
          if (!growing || random.nextInt(3) == 0) {
            assertThat(filter.delete(hash)).isEqualTo(held > 0);
            identities.put(identity, Math.max(held - 1, 0));
          }
        }
      }
    }
    assertThat(identities.values()).contains(8);
    assertThat(filter.count()).isEqualTo(identities.values().stream().mapToInt(n -> n).sum());
    identities.values().removeIf(held -> held == 0);
    assertThat(SpecifiedPages.identities(filter.toBytes())).isEqualTo(identities);
  }
}
