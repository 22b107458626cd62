package io.firstseen.filters.bloom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.MembershipFilter;
import io.firstseen.filters.MembershipFilterContract;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BloomFilterTest extends MembershipFilterContract {
  private static final int PROBES = 2_000_000;

  @Override
  protected MembershipFilter filled(long[] hashes, double falsePositiveRate) {
    BloomFilter filter = BloomFilter.forCapacity(Math.max(1, hashes.length), falsePositiveRate);
    for (long hash : hashes) {
      filter.add(hash);
    }
    return filter;
  }

  private static BloomFilter of(BloomShape shape, long... hashes) {
    BloomFilter filter = new BloomFilter(shape);
    for (long hash : hashes) {
      filter.add(hash);
    }
    return filter;
  }

  /** A filter with some keys, and its rate by the formula fill^k. */
  private record Filled(LongPredicate mightContain, double law) {}

  private static Filled own(BloomShape shape, long[] hashes) {
    BloomFilter filter = of(shape, hashes);
    return new Filled(filter::mightContain, filter.predictedFalsePositiveRate());
  }

  /**
   * Returns by how many σ the false positives of many filters, 2 million probes in all, deviate
   * from the formula.
   */
  private static double sigmasOff(
      int count, double rate, BiFunction<BloomShape, long[], Filled> filling) {
    int filters = Math.max(1, 1_000 / count);
    int probes = PROBES / filters;
    SplittableRandom keys = new SplittableRandom(8);
    double expected = 0;
    long found = 0;
    for (int i = 0; i < filters; i++) {
      Filled filled =
          filling.apply(BloomShape.forCapacity(count, rate), keys.longs(count).toArray());
      expected += probes * filled.law;
      found += keys.longs(probes).filter(filled.mightContain).count();
    }
    return (found - expected) / Math.sqrt(expected);
  }

  /** Small filters too, where positions that hang together would show. */
  @ParameterizedTest
  @CsvSource({
    "2, 0.1",
    "3, 0.01",
    "10, 0.01",
    "10, 0.001",
    "10, 0.0001",
    "30, 0.0001",
    "100, 0.01",
    "100, 0.0001",
    "1000, 0.001",
    "1000, 0.0001",
    "100000, 0.01",
    "100000, 0.0001"
  })
  void filtersOfAnySizeKeepTheLaw(int count, double rate) {
    assertThat(sigmasOff(count, rate, BloomFilterTest::own)).isBetween(-5.0, 5.0);
  }

  /**
   * The controls: the same test rejects the usual two-hash scheme, and the one with a constant
   * cubic term, at these sizes.
   */
  @ParameterizedTest
  @CsvSource({"10, 0.01", "100, 0.0001"})
  void doubleHashingWouldNot(int count, double rate) {
    assertDoubleHashingIsFoundOut(count, rate);
  }

  @Tag("slow")
  @ParameterizedTest
  @CsvSource({"10, 0.001", "10, 0.0001"})
  void norAtOtherRates(int count, double rate) {
    assertDoubleHashingIsFoundOut(count, rate);
  }

  private static void assertDoubleHashingIsFoundOut(int count, double rate) {
    assertThat(sigmasOff(count, rate, (shape, hashes) -> doubleHashing(shape, hashes, 0)))
        .isGreaterThan(10);
    assertThat(sigmasOff(count, rate, (shape, hashes) -> doubleHashing(shape, hashes, 1)))
        .isGreaterThan(5);
  }

  /** Positions a, a + b, … modulo m; {@code cubic} is added to b as often as it was used. */
  private static Filled doubleHashing(BloomShape shape, long[] hashes, int cubic) {
    BitSet bits = new BitSet();
    for (long hash : hashes) {
      doubleHashing(
          shape,
          hash,
          cubic,
          bit -> {
            bits.set((int) bit);
            return true;
          });
    }
    return new Filled(
        hash -> doubleHashing(shape, hash, cubic, bit -> bits.get((int) bit)),
        Math.pow((double) bits.cardinality() / shape.bits(), shape.hashes()));
  }

  private static boolean doubleHashing(BloomShape shape, long hash, int cubic, LongPredicate goOn) {
    SplittableRandom two = new SplittableRandom(hash);
    long position = two.nextLong(shape.bits());
    long step = two.nextLong(shape.bits());
    for (int i = 0; i < shape.hashes(); i++) {
      if (!goOn.test(position)) {
        return false;
      }
      position = (position + step) % shape.bits();
      step += (i + 1L) * cubic;
    }
    return true;
  }

  @Test
  void hashesWithBitsInCommonServeAsWell() {
    for (LongUnaryOperator alike :
        new LongUnaryOperator[] {
          i -> i, i -> i << 40, i -> 0xABCD_0000_0000_0000L | i, i -> i * 0x9e3779b97f4a7c15L
        }) {
      BloomFilter filter = BloomFilter.forCapacity(10_000, 0.01);
      for (long i = 0; i < 10_000; i++) {
        filter.add(alike.applyAsLong(i));
      }
      double predicted = filter.predictedFalsePositiveRate();
      assertThat(predicted).isCloseTo(0.01, within(0.001));
      long found = 0;
      for (long i = 10_000; i < 1_010_000; i++) {
        found += filter.mightContain(alike.applyAsLong(i)) ? 1 : 0;
      }
      double sigma = Math.sqrt(1e6 * predicted * (1 - predicted));
      assertThat((double) found).isCloseTo(1e6 * predicted, within(5 * sigma));
    }
  }

  @Property(seed = "2")
  void addTellsWhetherAnythingChanged(@ForAll @Size(max = 40) long[] hashes, @ForAll long hash) {
    BloomFilter filter = of(new BloomShape(128, 3), hashes);
    boolean before = filter.mightContain(hash);
    byte[] bytes = filter.toBytes();
    assertThat(filter.add(hash)).isNotEqualTo(before);
    assertThat(filter.mightContain(hash)).isTrue();
    if (before) {
      assertThat(filter.toBytes()).isEqualTo(bytes);
    }
    assertThat(filter.add(hash)).isFalse();
  }

  @Property(seed = "3")
  void aUnionIsTheFilterOfAllKeys(
      @ForAll @Size(max = 30) long[] a, @ForAll @Size(max = 30) long[] b) {
    BloomShape shape = new BloomShape(256, 3);
    BloomFilter all = of(shape, a);
    for (long hash : b) {
      all.add(hash);
    }
    BloomFilter left = of(shape, a);
    BloomFilter right = of(shape, b);
    BloomFilter union = left.union(right);
    assertThat(union.toBytes()).isEqualTo(all.toBytes());
    assertThat(union.fill()).isEqualTo(all.fill());
    assertThat(left.toBytes()).isEqualTo(of(shape, a).toBytes());
    assertThat(right.toBytes()).isEqualTo(of(shape, b).toBytes());
  }

  @ParameterizedTest
  @CsvSource({"128, 3", "64, 4"})
  void filtersOfDifferentShapesAreNotUnited(long bits, int hashes) {
    BloomFilter one = new BloomFilter(new BloomShape(64, 3));
    BloomFilter other = new BloomFilter(new BloomShape(bits, hashes));
    assertThatThrownBy(() -> one.union(other))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("64 bits with 3 hashes", bits + " bits", hashes + " hashes");
  }

  /**
   * Swamidass and Baldi's estimate has a standard error of about sqrt(m (e^x - x - 1)) / k here.
   */
  @ParameterizedTest
  @CsvSource({"0.1", "1", "3"})
  void theCountIsEstimatedFromTheFill(double share) {
    BloomFilter filter = BloomFilter.forCapacity(100_000, 0.001);
    long keys = Math.round(share * 100_000);
    new SplittableRandom(10).longs(keys).forEach(filter::add);
    double x = (double) filter.shape().hashes() * keys / filter.shape().bits();
    double sigma = Math.sqrt(filter.shape().bits() * (Math.expm1(x) - x)) / filter.shape().hashes();
    assertThat(filter.estimatedCount()).isCloseTo((double) keys, within(5 * sigma));
    assertThat(sigma).isLessThan(0.02 * keys);
  }

  @Test
  void estimatesOfEmptyAndFullFiltersAreTheLimits() {
    BloomFilter filter = new BloomFilter(new BloomShape(64, 1));
    assertThat(filter.fill()).isZero();
    assertThat(filter.estimatedCount()).isZero();
    new SplittableRandom(11).longs(2_000).forEach(filter::add);
    assertThat(filter.fill()).isEqualTo(1);
    assertThat(filter.predictedFalsePositiveRate()).isEqualTo(1);
    assertThat(filter.estimatedCount()).isInfinite();
  }

  /** 3 x 2^30 bits: a third of them lie where 32-bit arithmetic has no positions. */
  @Test
  void bitsBeyondTwoToThe31AreUsed() {
    BloomFilter filter = new BloomFilter(new BloomShape(3L << 30, 5));
    long[] hashes = new SplittableRandom(12).longs(2_000).toArray();
    for (long hash : hashes) {
      filter.add(hash);
    }
    for (long hash : hashes) {
      assertThat(filter.mightContain(hash)).isTrue();
    }
    assertThat(filter.estimatedCount()).isCloseTo(2_000, within(1.0));
    long beyond = 0;
    for (long hash : hashes) {
      beyond += BloomFormat.bitIndex(BloomFormat.firstHash(hash), 3L << 30) >= 1L << 31 ? 1 : 0;
    }
    assertThat((double) beyond).isCloseTo(667, within(5 * Math.sqrt(2_000 * 2 / 9.0)));
  }

  @Test
  void positionsFillTheLargestFilterFromEndToEnd() {
    long bits = BloomShape.MAX_BITS;
    long least = Long.MAX_VALUE;
    long most = -1;
    for (long seed = 0; seed < 100_000; seed++) {
      long bit = BloomFormat.bitIndex(BloomFormat.firstHash(seed), bits);
      least = Math.min(least, bit);
      most = Math.max(most, bit);
    }
    assertThat(least).isBetween(0L, bits / 5_000);
    assertThat(most).isBetween(bits - bits / 5_000, bits - 1);
  }
}
