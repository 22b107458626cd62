package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.NoSuchElementException;
import java.util.PrimitiveIterator;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GolombCodedSetTest {
  private static final int[] COUNTS = {
    0, 1, 2, 3, 36, 37, 38, 42, 43, 74, 75, 84, 85, 296, 336, 337, 1000
  };

  @Test
  void holdsExactlyItsValuesForEveryWidthAndCount() throws Exception {
    SplittableRandom random = new SplittableRandom(11);
    for (int valueBits = 1; valueBits <= 64; valueBits++) {
      for (int count : COUNTS) {
        if (valueBits < 11 && count > 1 << valueBits) {
          continue;
        }
        long[] values = randomValues(random, count, valueBits);
        GolombCodedSet set = encode(values, valueBits);
        assertHolds(set, values);
        assertHolds(reopened(set), values);
        for (int i = 0; i < 200; i++) {
          long strange = randomValue(random, valueBits);
          assertThat(set.contains(strange)).isEqualTo(contains(values, strange));
        }
      }
    }
  }

  @Test
  void answersEachOfManyValuesLikeOneByOne() throws Exception {
    SplittableRandom random = new SplittableRandom(12);
    for (int valueBits : new int[] {1, 7, 17, 30, 44, 64}) {
      for (int count : new int[] {0, 1, 38, 5000}) {
        if (valueBits < 17 && count > 1 << valueBits) {
          continue;
        }
        long[] values = randomValues(random, count, valueBits);
        GolombCodedSet set = reopened(encode(values, valueBits));
        long[] asked = new long[201];
        Arrays.setAll(
            asked,
            i ->
                i % 2 == 0 && count > 0
                    ? values[random.nextInt(count)]
                    : randomValue(random, valueBits));
        for (int i = 0; i < asked.length; i++) {
          asked[i] = asked[i] << (64 - valueBits) | random.nextLong() >>> 1 >>> (valueBits - 1);
        }
        for (int from : new int[] {0, 1, 184, 201}) {
          boolean[] found = new boolean[asked.length];
          boolean[] expected = new boolean[asked.length];
          for (int i = from; i < 201; i++) {
            expected[i] = set.mightContain(asked[i]);
            assertThat(expected[i]).isEqualTo(set.contains(asked[i] >>> (64 - valueBits)));
          }
          set.mightContainEach(asked, from, 201, found);
          assertThat(found).isEqualTo(expected);
          Arrays.fill(found, true);
          set.mightContainEach(asked, from, from, found);
          assertThat(found).doesNotContain(false);
        }
      }
    }
  }

  @Test
  void queriesAllocateNothing() throws Exception {
    SplittableRandom random = new SplittableRandom(13);
    long[] values = randomValues(random, 50_000, 40);
    GolombCodedSet set = reopened(encode(values, 40));
    long[] hashes = Arrays.stream(values).map(value -> value << 24).toArray();
    boolean[] found = new boolean[values.length];
    // The first call of a thread takes room for the others.
    set.mightContainEach(hashes, 0, 1, found);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    set.mightContainEach(hashes, 0, hashes.length, found);
    for (long hash : hashes) {
      found[0] &= set.mightContain(hash);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(4096);
    assertThat(found).doesNotContain(false);
  }

  @Test
  void holdsDenseSets() throws Exception {
    for (int valueBits = 1; valueBits <= 12; valueBits++) {
      long[] all = new long[1 << valueBits];
      Arrays.setAll(all, i -> i);
      GolombCodedSet set = encode(all, valueBits);
      assertThat(set.golombParameter()).isEqualTo(1);
      assertThat(set.payloadBits()).isEqualTo(all.length);
      assertHolds(set, all);
      assertHolds(reopened(set), all);
      long[] oneLess = Arrays.copyOf(all, all.length - 1);
      assertHolds(encode(oneLess, valueBits), oneLess);
      assertThat(encode(oneLess, valueBits).contains(all.length - 1)).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 8, 9, 31, 32, 33, 63, 64})
  void holdsTheExtremesOfTheUniverse(int valueBits) throws Exception {
    long last = -1L >>> (64 - valueBits);
    long[] values = {0, last};
    assertHolds(encode(values, valueBits), values);
    assertHolds(encode(new long[] {last}, valueBits), last);
    assertHolds(encode(new long[] {0}, valueBits), 0);
  }

  @Test
  void holdsValuesCrowdedIntoOneBucket() throws Exception {
    for (long start : new long[] {0, 1L << 63, -2000}) {
      long[] values = new long[2000];
      Arrays.setAll(values, i -> start + i);
      GolombCodedSet set = encode(values, 64);
      assertHolds(set, values);
      assertHolds(reopened(set), values);
      assertThat(set.contains(start - 1)).isFalse();
    }
  }

  /** Other implementations lost the last member here. */
  @Test
  void keepsTheLastValueWhenTheBitLengthIsAMultipleOfEight() throws Exception {
    SplittableRandom random = new SplittableRandom(12);
    int met = 0;
    for (int i = 0; i < 2000; i++) {
      long[] values = randomValues(random, 1 + random.nextInt(100), 20);
      GolombCodedSet set = encode(values, 20);
      if (set.payloadBits() % 8 == 0) {
        met++;
        assertHolds(reopened(set), values);
      }
    }
    assertThat(met).isGreaterThan(150);
  }

  @Test
  void oneSetHasOneForm() throws Exception {
    SplittableRandom random = new SplittableRandom(13);
    long[] values = randomValues(random, 777, 30);
    GolombCodedSet set = encode(values, 30);
    GolombCodedSet again = encode(reopened(set).toArray(), 30);
    assertThat(again.payload()).isEqualTo(set.payload());
    assertThat(again.bucketStarts()).isEqualTo(set.bucketStarts());
    assertThat(again.payloadBits()).isEqualTo(set.payloadBits());
  }

  @Test
  void refusesValuesThatAreNotAnAscendingSet() {
    assertRefused(10, "ascending and distinct, got 5 after 5 at index 1", 5, 5);
    assertRefused(10, "ascending and distinct, got 4 after 5 at index 1", 5, 4);
    assertRefused(64, "got 0 after 18446744073709551615 at index 1", -1, 0);
    assertRefused(10, "value must be at most 1023, got 1024", 1024);
    assertRefused(10, "value must be at most 1023, got 18446744073709551615", 1, -1);
    long[] descendingOverBuckets = new long[200];
    Arrays.setAll(descendingOverBuckets, i -> 1000 - i);
    assertRefused(10, "got 999 after 1000 at index 1", descendingOverBuckets);
    long[] tooMany = new long[200];
    assertRefused(1, "got 0 after 0 at index 1", tooMany);
  }

  @Test
  void refusesAQueryOutsideTheUniverse() {
    GolombCodedSet set = encode(new long[] {3}, 4);
    assertThatThrownBy(() -> set.contains(16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("value", "at most 15", "16");
  }

  @Test
  void takesAtMostOneAndAHalfBitsOverTheUniversePerValue() {
    SplittableRandom random = new SplittableRandom(14);
    for (int keys : new int[] {10_001, 70_691, 1 << 17}) {
      for (int extra : new int[] {7, 10, 13, 20}) {
        GolombCodedSet set = ofRandomHashes(random, keys, extra);
        assertThat((double) set.payloadBits() / keys).isLessThan(extra + 1.475 + 0.02);
      }
    }
  }

  @Test
  void bucketStartsTakeThirtyHundredthsOfABit() {
    SplittableRandom random = new SplittableRandom(15);
    for (int extra : new int[] {10, 13, 20}) {
      GolombCodedSet set = ofRandomHashes(random, 70_691, extra);
      assertThat(8.0 * set.bucketStarts().remaining() / set.count()).isLessThanOrEqualTo(0.31);
    }
  }

  private static GolombCodedSet ofRandomHashes(SplittableRandom random, int keys, int rateBits) {
    return GolombCodedSet.ofHashes(
        random.longs(keys).toArray(), Universe.forRate(keys, Math.scalb(1.0, -rateBits)));
  }

  /** The same values on average, from none to all in every bucket: nothing grows out of bounds. */
  @Test
  void holdsValuesInClusters() throws Exception {
    long[] values = new long[6000];
    for (int i = 0; i < values.length; i++) {
      values[i] = ((long) (i / 500) << 36) + 3L * (i % 500);
    }
    GolombCodedSet set = encode(values, 40);
    assertHolds(set, values);
    assertHolds(reopened(set), values);
    assertThat(set.bucketStarts().remaining() * 8.0 / set.count()).isLessThan(0.6);
  }

  @Test
  void encodesUnsortedHashesWithRepeats() throws Exception {
    SplittableRandom random = new SplittableRandom(16);
    for (int valueBits : new int[] {1, 12, 30, 64}) {
      long[] hashes = new long[5000];
      Arrays.setAll(hashes, i -> i % 10 == 9 ? hashes[i - 5] : random.nextLong());
      hashes[17] = 0;
      hashes[18] = -1;
      long[] before = hashes.clone();
      long[] values =
          Arrays.stream(hashes)
              .map(hash -> hash >>> (64 - valueBits))
              .boxed()
              .collect(Collectors.toCollection(() -> new TreeSet<>(Long::compareUnsigned)))
              .stream()
              .mapToLong(Long::longValue)
              .toArray();
      assertHolds(GolombCodedSet.ofHashes(hashes, Universe.ofBits(valueBits, 4500)), values);
      assertThat(hashes).as("the caller's array").isEqualTo(before);
    }
  }

  @Test
  void encodesBitsAfterASharedBeginning() {
    long[] hashes = {0xABC0_0000_0000_0000L, 0xABC1_2000_0000_0000L, 0xABC1_2345_0000_0000L};
    Universe bytes = Universe.ofBits(8, hashes.length);
    assertThat(GolombCodedSet.ofSortedHashes(hashes, 12, bytes).toArray()).containsExactly(0, 0x12);
    assertThatThrownBy(() -> GolombCodedSet.ofSortedHashes(hashes, 64, bytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("skippedBits", "[0, 63]", "64");
  }

  @Test
  void iteratesAndThenEnds() {
    PrimitiveIterator.OfLong iterator = encode(new long[] {1, 4}, 3).iterator();
    assertThat(iterator.nextLong()).isEqualTo(1);
    assertThat(iterator.nextLong()).isEqualTo(4);
    assertThat(iterator.hasNext()).isFalse();
    assertThatThrownBy(iterator::nextLong).isInstanceOf(NoSuchElementException.class);
  }

  @Property(seed = "44", tries = 500, edgeCases = EdgeCasesMode.NONE)
  void holdsCrowdedAndScatteredValues(
      @ForAll @Size(max = 300) Set<Long> scattered,
      @ForAll @Size(max = 300) Set<Integer> crowded,
      @ForAll long start,
      @ForAll @IntRange(min = 1, max = 64) int valueBits)
      throws Exception {
    TreeSet<Long> values = new TreeSet<>(Long::compareUnsigned);
    scattered.forEach(value -> values.add(value >>> (64 - valueBits)));
    crowded.forEach(offset -> values.add((start + (offset & 1023)) & -1L >>> (64 - valueBits)));
    long[] sorted = values.stream().mapToLong(Long::longValue).toArray();
    GolombCodedSet set = encode(sorted, valueBits);
    assertHolds(reopened(set), sorted);
    for (long value : sorted) {
      long neighbour = (value + 1) & -1L >>> (64 - valueBits);
      assertThat(set.contains(neighbour)).isEqualTo(values.contains(neighbour));
    }
  }

  static GolombCodedSet encode(long[] values, int bits) {
    return GolombCodedSet.of(values, Universe.ofBits(bits, values.length));
  }

  static long[] randomValues(SplittableRandom random, int count, int valueBits) {
    TreeSet<Long> values = new TreeSet<>(Long::compareUnsigned);
    while (values.size() < count) {
      values.add(randomValue(random, valueBits));
    }
    return values.stream().mapToLong(Long::longValue).toArray();
  }

  private static long randomValue(SplittableRandom random, int valueBits) {
    return random.nextLong() >>> (64 - valueBits);
  }

  private static boolean contains(long[] values, long value) {
    return Arrays.stream(values).anyMatch(v -> v == value);
  }

  static GolombCodedSet reopened(GolombCodedSet set) throws MalformedGolombCodedSetException {
    return GolombCodedSet.wrap(
        set.count(), set.universe(), set.payloadBits(), set.bucketStarts(), set.payload());
  }

  private static void assertHolds(GolombCodedSet set, long... values) throws Exception {
    assertThat(set.count()).isEqualTo(values.length);
    assertThat(set.toArray()).isEqualTo(values);
    for (long value : values) {
      if (!set.contains(value)) {
        assertThat(false).as("%s of %s", Long.toUnsignedString(value), set.universe()).isTrue();
      }
    }
    set.verify();
  }

  private static void assertRefused(int valueBits, String message, long... values) {
    assertThatThrownBy(() -> encode(values, valueBits))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
