package io.firstseen.filters.gcs;

import io.firstseen.filters.MembershipFilter;
import io.firstseen.filters.MembershipFilterContract;

/** A set of the values of hashes, as snapshots use it, is a filter like the others. */
class GolombCodedSetMembershipTest extends MembershipFilterContract {
  @Override
  protected MembershipFilter filled(long[] hashes, double falsePositiveRate) {
    GolombCodedSet set =
        GolombCodedSet.ofHashes(hashes, Universe.forRate(hashes.length, falsePositiveRate));
    return new MembershipFilter() {
      @Override
      public boolean mightContain(long hash) {
        return set.mightContain(hash);
      }

      @Override
      public double predictedFalsePositiveRate() {
        return set.universe().rateOf(set.count());
      }

      @Override
      public long sizeBytes() {
        return (set.payloadBits() + 7) / 8 + set.bucketStarts().remaining();
      }
    };
  }
}
