package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class BucketStartsTest {
  /** From empty buckets to positions near 2^34, where a file of 2^31 bytes ends. */
  @Test
  void givesBackEveryStartWhateverTheLengths() throws Exception {
    SplittableRandom random = new SplittableRandom(63);
    for (int buckets : new int[] {0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 1000}) {
      for (int lengthBits = 0; lengthBits <= 24; lengthBits += 4) {
        long[] starts = new long[buckets + 1];
        BucketLengths lengths = new BucketLengths(buckets);
        for (int i = 0; i < buckets; i++) {
          long length = random.nextInt(3) == 0 ? 0 : random.nextLong(1L << lengthBits);
          lengths.add(length);
          starts[i + 1] = starts[i] + length;
        }
        ByteBuffer section = ByteBuffer.wrap(lengths.section(starts[buckets]));
        BucketStarts read = BucketStarts.open(buckets, starts[buckets], section);
        for (int i = 0; i <= buckets; i++) {
          assertThat(read.at(i)).as("start %d of %d", i, buckets).isEqualTo(starts[i]);
        }
      }
    }
  }

  @Test
  void holdsPositionsBeyondTwoToThe31() throws Exception {
    BucketLengths lengths = new BucketLengths(20);
    long length = (1L << 29) + 12345;
    for (int i = 0; i < 20; i++) {
      lengths.add(i == 7 ? length + 99 : length);
    }
    long payloadBits = 20 * length + 99;
    ByteBuffer section = ByteBuffer.wrap(lengths.section(payloadBits));
    BucketStarts read = BucketStarts.open(20, payloadBits, section);
    for (int i = 0; i <= 20; i++) {
      assertThat(read.at(i)).isEqualTo(i * length + (i > 7 ? 99 : 0));
    }
  }
}
