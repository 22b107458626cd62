package io.firstseen.filters.gcs;

import io.firstseen.filters.MembershipFilter;
import io.firstseen.filters.MembershipFilterContract;
import java.util.Arrays;

/** A set over the leading bits of hashes, as snapshots use it, is a filter like the others. */
class GolombCodedSetMembershipTest extends MembershipFilterContract {
  @Override
  protected MembershipFilter filled(long[] hashes, double falsePositiveRate) {
    double values = Math.max(1, hashes.length) / falsePositiveRate;
    int valueBits = (int) Math.ceil(Math.log(values) / Math.log(2));
    int shift = Long.SIZE - valueBits;
    GolombCodedSet set =
        GolombCodedSet.of(
            Arrays.stream(hashes).map(hash -> hash >>> shift).sorted().distinct().toArray(),
            valueBits);
    return new MembershipFilter() {
      @Override
      public boolean mightContain(long hash) {
        return set.mightContain(hash >>> shift);
      }

      @Override
      public double predictedFalsePositiveRate() {
        return set.count() * Math.scalb(1.0, -valueBits);
      }

      @Override
      public long sizeBytes() {
        return (set.payloadBits() + 7) / 8 + set.bucketStarts().remaining();
      }
    };
  }
}
