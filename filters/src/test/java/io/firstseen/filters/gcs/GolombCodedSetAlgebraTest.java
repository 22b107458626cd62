package io.firstseen.filters.gcs;

import static io.firstseen.filters.gcs.GolombCodedSetTest.encode;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class GolombCodedSetAlgebraTest {
  @Property(seed = "45", tries = 300)
  void agreesWithSetsOfObjects(
      @ForAll @Size(max = 200) Set<Long> some,
      @ForAll @Size(max = 200) Set<Long> others,
      @ForAll @Size(max = 50) Set<Long> common,
      @ForAll @IntRange(min = 1, max = 64) int valueBits,
      @ForAll @IntRange(min = 1, max = 64) int anyCoarserBits) {
    SortedSet<Long> one = values(some, common, valueBits);
    SortedSet<Long> other = values(others, common, valueBits);
    GolombCodedSet a = of(one, valueBits);
    GolombCodedSet b = of(other, valueBits);

    TreeSet<Long> union = new TreeSet<>(one);
    union.addAll(other);
    assertSame(a.union(b), union);

    TreeSet<Long> difference = new TreeSet<>(one);
    difference.removeAll(new HashSet<>(other));
    assertSame(a.difference(b), difference);

    int coarserBits = Math.min(valueBits, anyCoarserBits);
    TreeSet<Long> coarse = new TreeSet<>(Long::compareUnsigned);
    one.forEach(value -> coarse.add(value >>> (valueBits - coarserBits)));
    Universe coarser = Universe.ofBits(coarserBits, coarse.size());
    assertThat(a.coarsen(coarser).toArray()).isEqualTo(array(coarse));
    assertThat(a.coarsen(coarser).universe()).isEqualTo(coarser);
  }

  @Property(seed = "46", tries = 300)
  void matchesAsSingleQueriesDo(
      @ForAll @Size(max = 300) Set<Long> some,
      @ForAll @Size(max = 200) Set<Long> others,
      @ForAll @Size(max = 50) Set<Long> common,
      @ForAll @IntRange(min = 1, max = 64) int valueBits) {
    GolombCodedSet set = of(values(some, common, valueBits), valueBits);
    long[] queries = array(values(others, common, valueBits));
    boolean any = false;
    int at = -1;
    for (int i = 0; i < queries.length; i++) {
      if (set.contains(queries[i])) {
        any = true;
        at = set.nextMatch(queries, at + 1);
        assertThat(at).isEqualTo(i);
      }
    }
    assertThat(set.nextMatch(queries, at + 1)).isEqualTo(-1);
    assertThat(set.matchAny(queries)).isEqualTo(any);
  }

  @Test
  void matchesTheLastValueOfTheUniverse() {
    GolombCodedSet set = encode(new long[] {-2, -1}, 64);
    assertThat(set.matchAny(new long[] {-1, -1})).isTrue();
    assertThat(set.nextMatch(new long[] {-2, -1, -1}, 1)).isEqualTo(1);
    assertThat(set.matchAny(new long[] {0, -3})).isFalse();
    assertThat(set.matchAny(new long[0])).isFalse();
    assertThat(encode(new long[0], 64).matchAny(new long[] {0})).isFalse();
  }

  @Test
  void refusesQueriesOutOfOrderOrRange() {
    GolombCodedSet set = encode(new long[] {3}, 4);
    assertThatThrownBy(() -> set.matchAny(new long[] {2, 1}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("ascending", "1 after 2", "index 1");
    assertThatThrownBy(() -> set.matchAny(new long[] {16}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("value", "at most 15", "16");
  }

  @Test
  void refusesAnotherUniverse() {
    GolombCodedSet four = encode(new long[] {3}, 4);
    GolombCodedSet five = encode(new long[] {3}, 5);
    assertThatThrownBy(() -> four.union(five))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(four.universe().toString(), five.universe().toString());
    assertThatThrownBy(() -> four.difference(five)).isInstanceOf(IllegalArgumentException.class);
    for (int range : new int[] {5, 12, 32}) {
      assertThatThrownBy(() -> four.coarsen(new Universe(1, range)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll("coarser range", "16", "got " + range);
    }
  }

  @Test
  void coarsensToADivisorOfItsRange() {
    GolombCodedSet set = GolombCodedSet.of(new long[] {0, 5, 6, 29}, new Universe(2, 15));
    GolombCodedSet coarse = set.coarsen(new Universe(1, 10));
    assertThat(coarse.toArray()).containsExactly(0, 1, 2, 9);
    assertThat(coarse.universe()).isEqualTo(new Universe(1, 10));
  }

  /**
   * The figure of the article that brought the index: 32 parts cut what a query decodes 32 times.
   */
  @Test
  void anIndexOf32PartsCutsTheDecodedValues32Times() throws Exception {
    SplittableRandom random = new SplittableRandom(47);
    GolombCodedSet set = encode(GolombCodedSetTest.randomValues(random, 32 * 38, 21), 21);
    assertThat(set.universe().buckets()).isEqualTo(32);
    double withIndex = 0;
    double without = 0;
    long[] all = set.toArray();
    for (int i = 0; i < 10_000; i++) {
      long value = random.nextLong() >>> 43;
      ValueCursor cursor = new ValueCursor(set);
      boolean found = cursor.seek(value);
      assertThat(found).isEqualTo(set.contains(value));
      withIndex += cursor.decoded();
      int before = Arrays.binarySearch(all, value);
      without += Math.min(all.length, (before < 0 ? -before - 1 : before) + 1);
    }
    assertThat(without / withIndex).isBetween(29.0, 35.0);
  }

  private static SortedSet<Long> values(Set<Long> some, Set<Long> common, int valueBits) {
    TreeSet<Long> values = new TreeSet<>(Long::compareUnsigned);
    some.forEach(value -> values.add(value >>> (64 - valueBits)));
    common.forEach(value -> values.add(value >>> (64 - valueBits)));
    return values;
  }

  private static void assertSame(GolombCodedSet set, SortedSet<Long> values) {
    GolombCodedSet expected = GolombCodedSet.of(array(values), set.universe());
    assertThat(set.count()).isEqualTo(values.size());
    assertThat(set.payload()).isEqualTo(expected.payload());
    assertThat(set.bucketStarts()).isEqualTo(expected.bucketStarts());
  }

  private static GolombCodedSet of(SortedSet<Long> values, int valueBits) {
    return GolombCodedSet.of(array(values), Universe.ofBits(valueBits, 27));
  }

  private static long[] array(SortedSet<Long> values) {
    return values.stream().mapToLong(Long::longValue).toArray();
  }
}
