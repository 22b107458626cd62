package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SortedHashesTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 38, 39, 1000, 100_000})
  void anyNumberOfPartsGivesTheSameBytes(int length) throws Exception {
    SplittableRandom random = new SplittableRandom(83);
    for (int valueBits : new int[] {1, 8, 17, 30, 60}) {
      for (boolean crowded : new boolean[] {false, true}) {
        long[] hashes =
            UnsignedSort.sorted(
                random
                    .longs(length)
                    .map(hash -> crowded && hash % 8 != 0 ? hash >>> 9 : hash)
                    .map(hash -> hash >>> 4 | 5L << 60)
                    .toArray());
        long[] values =
            Arrays.stream(hashes).map(hash -> hash << 4 >>> (64 - valueBits)).distinct().toArray();
        Universe universe = Universe.ofBits(valueBits, values.length);
        GolombCodedSet expected = GolombCodedSet.of(values, universe);
        for (int parts : new int[] {1, 2, 3, 7}) {
          GolombCodedSet set = new SortedHashes(hashes, 4, universe).encode(parts);
          assertThat(set.count()).isEqualTo(values.length);
          assertThat(set.payloadBits()).isEqualTo(expected.payloadBits());
          assertThat(set.payload()).as("%d parts", parts).isEqualTo(expected.payload());
          assertThat(set.bucketStarts()).isEqualTo(expected.bucketStarts());
          set.verify();
        }
      }
    }
  }
}
