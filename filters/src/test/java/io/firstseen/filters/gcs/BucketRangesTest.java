package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class BucketRangesTest {
  @Property(seed = "43")
  void isExactForEveryWidthAndCount(
      @ForAll @IntRange(min = 1, max = 64) int valueBits,
      @ForAll @LongRange(min = 1, max = 1L << 31) long anyCount,
      @ForAll long anyBucket,
      @ForAll long anyValue) {
    BigInteger universe = BigInteger.ONE.shiftLeft(valueBits);
    BigInteger count = BigInteger.valueOf(anyCount).min(universe);
    BucketRanges ranges = new BucketRanges(count.longValue(), valueBits);

    BigInteger bucket = BigInteger.valueOf(anyBucket).mod(count.add(BigInteger.ONE));
    BigInteger[] lower = bucket.multiply(universe).divideAndRemainder(count);
    BigInteger ceiling = lower[1].signum() == 0 ? lower[0] : lower[0].add(BigInteger.ONE);
    assertThat(ranges.lowerBound(bucket.longValue())).isEqualTo(ceiling.longValue());

    long value = anyValue >>> (64 - valueBits);
    BigInteger floor =
        new BigInteger(Long.toUnsignedString(value)).multiply(count).divide(universe);
    assertThat(ranges.bucketOf(value)).isEqualTo(floor.longValueExact());
  }
}
