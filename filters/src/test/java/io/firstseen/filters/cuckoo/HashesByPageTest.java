package io.firstseen.filters.cuckoo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Inserting many keys at once gives the same bytes as inserting one after the other. */
class HashesByPageTest {
  /** Insertions and deletions of one key do not commute, nor do splits and what comes after. */
  @ParameterizedTest
  @ValueSource(ints = {20, 24, 34})
  void manyAtOnceAreAsOneAfterTheOther(int identityBits) throws IOException {
    CuckooFilter one = new CuckooFilter(new CuckooShape(identityBits));
    CuckooFilter many = new CuckooFilter(new CuckooShape(identityBits));
    SplittableRandom random = new SplittableRandom(3);
    for (int size : new int[] {0, 1, 511, 3_000, 70_000, 40_000, 20_000}) {
      long[] hashes = random.longs(size).toArray();
      long stored = 0;
      for (long hash : hashes) {
        stored += one.insert(hash) == InsertionResult.STORED ? 1 : 0;
      }
      assertThat(many.insertAll(hashes)).isEqualTo(stored);
      assertThat(bytes(many)).isEqualTo(bytes(one));

      long[] some = Arrays.copyOf(hashes, size / 3);
      long deleted = 0;
      for (long hash : some) {
        deleted += one.delete(hash) ? 1 : 0;
      }
      assertThat(many.deleteAll(some)).isEqualTo(deleted);
      assertThat(bytes(many)).isEqualTo(bytes(one));
      assertThat(many.count()).isEqualTo(one.count());
    }
    assertThat(one.pageCount()).isGreaterThan(7);
  }

  @Test
  void whatIsNotThereIsNotDeleted() {
    CuckooFilter filter = CuckooFilter.forCapacity(1_000_000, 0.0001);
    assertThat(filter.insertAll(new long[] {1L << 40, 2L << 40})).isEqualTo(2);
    assertThat(filter.deleteAll(new long[] {2L << 40, 3L << 40, 2L << 40})).isEqualTo(1);
    assertThat(filter.count()).isEqualTo(1);
  }

  private static byte[] bytes(CuckooFilter filter) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    filter.writeTo(out);
    return out.toByteArray();
  }
}
