package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.cuckoo.TextbookCuckoo.Defect;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/**
 * The traps that cuckoo filters fell into, one test each. A trap is a claim about any filter: ours
 * keeps it, the textbook's does, and the textbook's with the one defect that the trap is about does
 * not, which shows that the test would notice.
 */
class CuckooTrapsTest {
  private static final long SEED = 20261121;

  /** The claim gets empty filters of the number of identity bits that it asks for. */
  private static void assertOnlyTheDefectSprings(
      Defect defect, String broken, Consumer<IntFunction<GrowingFilter>> claim) {
    claim.accept(FilterOnTheHeap::of);
    int bucketBits = defect == Defect.SAME_BUCKETS ? 4 : 9;
    claim.accept(bits -> new TextbookCuckoo(bits, bucketBits, Defect.NONE));
    assertThatThrownBy(() -> claim.accept(bits -> new TextbookCuckoo(bits, bucketBits, defect)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(broken);
  }

  @Test
  void noVictimIsLostWhenAnInsertionFails() {
    assertOnlyTheDefectSprings(
        Defect.VICTIM_DROPPED,
        "keys lost",
        filters -> {
          GrowingFilter filter = filters.apply(30);
          long[] keys = new SplittableRandom(SEED).longs(40_000).toArray();
          insertAll(filter, keys);
          assertThat(countAbsent(filter, keys)).as("keys lost").isZero();
        });
  }

  @Test
  void anInsertionThatFindsNoPathLeavesTheBytesAsTheyWere() throws IOException {
    CuckooShape shape = new CuckooShape(30);
    PathSearch search = new PathSearch();
    for (int width = 2; width <= 9; width++) {
      SplittableRandom keys = new SplittableRandom(SEED + width);
      BucketPage page = new BucketPage(shape, 0, 0, width, null);
      byte[] before = page.body.clone();
      while (page.insert(shape.identity(keys.nextLong()), 0, search)) {
        before = page.body.clone();
      }
      assertThat(page.body).as("width %d", width).isEqualTo(before);
      page.verify();
    }
  }

  @Test
  void aFingerprintIsNeverTakenForAFreeSlot() {
    assertOnlyTheDefectSprings(
        Defect.FINGERPRINT_LIKE_EMPTY,
        "never inserted",
        filters -> {
          int identityBits = 24;
          long[] zeroCore = new long[512];
          for (int bucket = 0; bucket < zeroCore.length; bucket++) {
            zeroCore[bucket] = (long) bucket << (Long.SIZE - identityBits);
          }
          for (int others : new int[] {0, 600, 5_000}) {
            GrowingFilter filter = filters.apply(identityBits);
            insertAll(filter, new SplittableRandom(SEED).longs(others).toArray());
            int present = zeroCore.length - countAbsent(filter, zeroCore);
            assertThat(present).as("present but never inserted").isLessThan(10);
            insertAll(filter, zeroCore);
            assertThat(countAbsent(filter, zeroCore)).as("keys lost").isZero();
            for (long hash : zeroCore) {
              assertThat(filter.delete(hash)).as("deleted").isTrue();
            }
            assertThat(filter.count()).isEqualTo(others);
          }
        });
  }

  @Test
  void bucketAndFingerprintShareNoBit() {
    assertOnlyTheDefectSprings(
        Defect.OVERLAPPING_BITS,
        "false positives",
        filters -> {
          GrowingFilter filter = filters.apply(24);
          insertAll(filter, new SplittableRandom(SEED).longs(30_000).toArray());
          assertFalsePositives(filter, 2 * 30_000 / Math.pow(2, 24), 500_000);
        });
  }

  /** The filter turns an emptied table into a list. */
  private static GrowingFilter emptyTable() {
    CuckooShape shape = new CuckooShape(24);
    List<CuckooPage> pages = List.of(new BucketPage(shape, 0, 0, 4, null));
    return new FilterOnTheHeap(new CuckooFilter(shape, new HeapPages(shape, pages)));
  }

  /** Eight copies fill two buckets of four slots; if the two are one, they never find room. */
  @Test
  void theTwoBucketsOfAKeyDifferInTheSmallestTable() {
    assertOnlyTheDefectSprings(
        Defect.SAME_BUCKETS,
        "slots after eight copies",
        filters -> {
          GrowingFilter filter = filters.apply(24);
          long[] keys = new SplittableRandom(SEED).longs(1_900).toArray();
          insertAll(filter, keys);
          for (long hash : keys) {
            filter.delete(hash);
          }
          GrowingFilter empty = filter instanceof FilterOnTheHeap ? emptyTable() : filter;
          long slots = empty.slots();
          for (long hash : keys) {
            GrowingFilter one = empty.copy();
            insertAll(one, hash, hash, hash, hash, hash, hash, hash, hash);
            assertThat(one.slots()).as("slots after eight copies of a key").isEqualTo(slots);
          }
        });
    for (int core = 1; core < 256; core++) {
      for (int bucket = 0; bucket < CuckooShape.BUCKETS; bucket++) {
        int alternate = BucketPairs.alternate(bucket, core);
        assertThat(alternate).isNotEqualTo(bucket).isBetween(0, CuckooShape.BUCKETS - 1);
        assertThat(BucketPairs.alternate(alternate, core)).isEqualTo(bucket);
      }
    }
  }

  @Test
  void identitiesOfMoreThan32BitsCountInFull() {
    assertOnlyTheDefectSprings(
        Defect.THIRTY_TWO_BITS,
        "false positives",
        filters -> {
          GrowingFilter filter = filters.apply(44);
          insertAll(filter, new SplittableRandom(SEED).longs(200_000).toArray());
          assertFalsePositives(filter, 2 * 200_000 / Math.pow(2, 44), 1_000_000);
        });
  }

  /** Changing any of the top P bits of a hash gives a different key, except for a rare alias. */
  @Test
  void everyBitOfAnIdentityCountsAndNoneBelow() {
    for (int identityBits : new int[] {20, 31, 32, 33, 57}) {
      SplittableRandom random = new SplittableRandom(SEED);
      int[] found = new int[Long.SIZE];
      for (int run = 0; run < 100; run++) {
        FilterOnTheHeap filter = FilterOnTheHeap.of(identityBits);
        long hash = random.nextLong();
        filter.insert(hash);
        for (int bit = 0; bit < Long.SIZE; bit++) {
          found[bit] += filter.mightContain(hash ^ (1L << bit)) ? 1 : 0;
        }
      }
      for (int bit = 0; bit < Long.SIZE; bit++) {
        if (bit < Long.SIZE - identityBits) {
          assertThat(found[bit]).as("bit %d of P = %d", bit, identityBits).isEqualTo(100);
        } else {
          assertThat(found[bit]).as("bit %d of P = %d", bit, identityBits).isLessThan(10);
        }
      }
    }
  }

  /** Hashes that share their first bits, all ones, lead to the last of millions of page numbers. */
  @Test
  void pageNumbersKeepTheirSignWhereTheDirectoryIsDeep() {
    FilterOnTheHeap filter = FilterOnTheHeap.of(57);
    long[] keys = new SplittableRandom(SEED).longs(20_000).map(key -> key | -1L << 46).toArray();
    insertAll(filter, keys);
    int[] deepest = {0};
    filter.filter.forEachPage(page -> deepest[0] = Math.max(deepest[0], page.depth()));
    assertThat(deepest[0]).isGreaterThan(18);
    assertThat(countAbsent(filter, keys)).isZero();
    for (long key : keys) {
      assertThat(filter.delete(key)).isTrue();
    }
    assertThat(filter.isAllZero()).isTrue();
    BucketPage last = new BucketPage(new CuckooShape(57), 30, (1 << 30) - 1, 4, null);
    assertThat(last.id()).isEqualTo(Integer.MAX_VALUE);
    assertThat(last.insert(new CuckooShape(57).identity(-1), 0, new PathSearch())).isTrue();
    assertThat(last.contains(new CuckooShape(57).identity(-1))).isTrue();
  }

  /**
   * The documentation warns about this: deleting a key that was never admitted returns true at the
   * filter's false-positive rate, and erases an admitted key. Here 1 in 26 at 20,000 keys of 20
   * bits.
   */
  @Test
  void deletingKeysNeverAdmittedErasesOthersAtTheFalsePositiveRate() {
    GrowingFilter filter = FilterOnTheHeap.of(20);
    long[] keys = new SplittableRandom(SEED).longs(20_000).toArray();
    insertAll(filter, keys);
    double rate = filter.predictedFalsePositiveRate();
    assertThat(rate).isCloseTo(1 / 26.4, within(0.001));
    int absentKeys = 5_000;
    long deleted = new SplittableRandom(SEED + 1).longs(absentKeys).filter(filter::delete).count();
    double expected = absentKeys * rate;
    assertThat((double) deleted).isCloseTo(expected, within(5 * Math.sqrt(expected)));
    assertThat(filter.count()).isEqualTo(20_000 - deleted);
    // A key that shares its identity with another live key is still found through that key.
    assertThat((double) countAbsent(filter, keys)).isBetween(0.9 * deleted, (double) deleted);
  }

  /** The rule that goes with it: a key that was turned away as present must not be deleted. */
  @Test
  void keysTurnedAwayAsPresentTakeNothingWithThem() {
    assertOnlyTheDefectSprings(
        Defect.SUPPRESSED_DELETED,
        "admitted keys lost",
        filters -> {
          GrowingFilter filter = filters.apply(20);
          List<Long> admitted = new ArrayList<>();
          int turnedAway = 0;
          for (long hash : new SplittableRandom(SEED).longs(20_000).toArray()) {
            if (filter.insertIfAbsent(hash) == InsertionResult.STORED) {
              admitted.add(hash);
            } else {
              turnedAway++;
            }
          }
          assertThat(turnedAway).isGreaterThan(200);
          long lost = admitted.stream().filter(hash -> !filter.mightContain(hash)).count();
          assertThat(lost).as("admitted keys lost").isZero();
        });
  }

  @Test
  void aHotKeyGrowsNothing() {
    assertOnlyTheDefectSprings(
        Defect.UNBOUNDED_COPIES,
        "after the ninth copy",
        filters -> {
          for (int others : new int[] {0, 400, 3_000, 50_000}) {
            GrowingFilter filter = filters.apply(28);
            SplittableRandom keys = new SplittableRandom(SEED);
            insertAll(filter, keys.longs(others).toArray());
            long hot = keys.nextLong();
            insertAll(filter, hot, hot, hot, hot, hot, hot, hot, hot);
            byte[] before = filter.toBytes();
            for (int i = 0; i < 10_000; i++) {
              assertThat(filter.insert(hot))
                  .as("after the ninth copy")
                  .isEqualTo(InsertionResult.SATURATED);
            }
            assertThat(filter.toBytes()).isEqualTo(before);
            for (int copy = 0; copy < CuckooPage.MAX_COPIES; copy++) {
              assertThat(filter.mightContain(hot)).isTrue();
              assertThat(filter.delete(hot)).isTrue();
            }
            assertThat(filter.mightContain(hot)).isFalse();
            assertThat(filter.count()).isEqualTo(others);
          }
        });
  }

  @Test
  void manyHotKeysFindTheirPlaceInTheSmallestIdentities() {
    CuckooFilter filter = new CuckooFilter(new CuckooShape(CuckooShape.MIN_IDENTITY_BITS));
    SplittableRandom keys = new SplittableRandom(SEED);
    for (int i = 0; i < 20_000; i++) {
      long hash = keys.nextLong();
      for (int copy = 0; copy < 8; copy++) {
        filter.insert(hash);
      }
      assertThat(filter.mightContain(hash)).isTrue();
    }
  }

  @Test
  void thePredictedRateIsTheMeasuredOne() {
    assertOnlyTheDefectSprings(
        Defect.RATE_OF_A_FULL_TABLE,
        "false positives",
        filters -> {
          GrowingFilter filter = filters.apply(22);
          SplittableRandom keys = new SplittableRandom(SEED);
          for (int part = 0; part < 4; part++) {
            insertAll(filter, keys.longs(7_000).toArray());
            assertFalsePositives(filter, filter.predictedFalsePositiveRate(), 200_000);
          }
        });
  }

  @Test
  void aReplayGivesTheSameBytesFromTheStartAndFromAnyState() {
    assertOnlyTheDefectSprings(
        Defect.RANDOMNESS_OUTSIDE_THE_STATE,
        "bytes of the replay",
        filters -> {
          GrowingFilter first = filters.apply(24);
          churn(first, 0, 30_000);
          GrowingFilter again = filters.apply(24);
          churn(again, 0, 13_000);
          GrowingFilter restored = again.read(again.toBytes());
          churn(restored, 13_000, 30_000);
          churn(again, 13_000, 30_000);
          assertThat(again.toBytes()).as("bytes of the replay").isEqualTo(first.toBytes());
          assertThat(restored.toBytes()).as("bytes of the replay").isEqualTo(first.toBytes());
        });
  }

  private static void churn(GrowingFilter filter, int from, int to) {
    long[] keys = new SplittableRandom(SEED).longs(to).toArray();
    for (int i = from; i < to; i++) {
      filter.insert(keys[i]);
      if (i % 3 == 0) {
        filter.delete(keys[i / 2]);
      }
    }
  }

  private static void insertAll(GrowingFilter filter, long... hashes) {
    for (long hash : hashes) {
      filter.insert(hash);
    }
  }

  private static int countAbsent(GrowingFilter filter, long[] hashes) {
    int absent = 0;
    for (long hash : hashes) {
      absent += filter.mightContain(hash) ? 0 : 1;
    }
    return absent;
  }

  private static void assertFalsePositives(GrowingFilter filter, double rate, int probes) {
    long found = new SplittableRandom(SEED + 1).longs(probes).filter(filter::mightContain).count();
    double expected = rate * probes;
    assertThat((double) found)
        .as("false positives of %d probes", probes)
        .isCloseTo(expected, within(5 * Math.sqrt(expected) + 3));
  }
}
