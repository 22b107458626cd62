package io.firstseen.filters.bloom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BloomFormatTest {
  /** Computed by an independent program from the text of the specification. */
  private static final String GOLDEN =
      "4653424601070000800000000000000041a9651802680105801204060c003a329ddf822a";

  private static BloomFilter filter() {
    BloomFilter filter = new BloomFilter(new BloomShape(128, 7));
    for (long hash : new long[] {0, 1, -1, Long.MIN_VALUE, 0x0123456789abcdefL}) {
      filter.add(hash);
    }
    return filter;
  }

  private static void assertRefused(byte[] bytes, String facts) {
    assertThatThrownBy(() -> BloomFilter.fromBytes(bytes))
        .isInstanceOf(MalformedBloomFilterException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @Test
  void theBytesArePinned() {
    assertThat(HexFormat.of().formatHex(filter().toBytes())).isEqualTo(GOLDEN);
    assertThat(HexFormat.of().formatHex(new BloomFilter(new BloomShape(64, 1)).toBytes()))
        .isEqualTo("4653424601010000400000000000000000000000000000005186b489");
  }

  @Test
  void theLongestFormFitsAByteArray() {
    assertThat(BloomShape.MAX_BITS / 8 + 20).isLessThanOrEqualTo(Integer.MAX_VALUE - 8);
  }

  @Property(seed = "4", tries = 300)
  void whatWasWrittenIsRead(
      @ForAll @Size(max = 50) long[] hashes,
      @ForAll @IntRange(min = 1, max = 40) int words,
      @ForAll @IntRange(min = 1, max = 64) int k)
      throws MalformedBloomFilterException {
    BloomFilter filter = new BloomFilter(new BloomShape(words * 64L, k));
    for (long hash : hashes) {
      filter.add(hash);
    }
    BloomFilter read = BloomFilter.fromBytes(filter.toBytes());
    assertThat(read.shape()).isEqualTo(filter.shape());
    assertThat(read.fill()).isEqualTo(filter.fill());
    assertThat(read.toBytes()).isEqualTo(filter.toBytes());
    for (long hash : hashes) {
      assertThat(read.mightContain(hash)).isTrue();
    }
  }

  @Test
  void everyTruncationIsRefused() {
    byte[] bytes = filter().toBytes();
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> BloomFilter.fromBytes(cut))
          .as("%d bytes", length)
          .isInstanceOf(MalformedBloomFilterException.class);
    }
  }

  @Test
  void anExcessByteIsRefused() {
    byte[] bytes = filter().toBytes();
    assertThatThrownBy(() -> BloomFilter.fromBytes(Arrays.copyOf(bytes, bytes.length + 1)))
        .isInstanceOf(MalformedBloomFilterException.class);
  }

  @Test
  void everyFlippedBitIsRefused() {
    byte[] bytes = filter().toBytes();
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit >> 3] ^= (byte) (1 << (bit & 7));
      assertThatThrownBy(() -> BloomFilter.fromBytes(flipped))
          .as("bit %d", bit)
          .isInstanceOf(MalformedBloomFilterException.class);
    }
  }

  /**
   * An attacker who forges a checksum only triggers the typed exception, and no large allocation.
   */
  @Test
  void everyFlippedBitUnderAGoodChecksumIsRefusedOrAnotherFilter()
      throws MalformedBloomFilterException {
    byte[] bytes = filter().toBytes();
    for (int bit = 0; bit < (bytes.length - 4) * 8; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit >> 3] ^= (byte) (1 << (bit & 7));
      seal(flipped);
      BloomFilter read;
      try {
        read = BloomFilter.fromBytes(flipped);
      } catch (MalformedBloomFilterException refused) {
        continue;
      }
      assertThat(read.toBytes()).isEqualTo(flipped);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0  | 47               | FSBF",
        "4  | 02               | version; be 1; got 2",
        "5  | 00               | hashes; [1, 64]; got 0",
        "5  | 41               | hashes; [1, 64]; got 65",
        "6  | 01               | reserved bytes; got 1",
        "8  | 4100000000000000 | bits; multiple of 64; [64, 17179868928]; got 65",
        "8  | 00000000000000ff | bits; multiple of 64; [64, 17179868928]; got -72057594037927936",
        "8  | 4000000000000000 | 64 bits; 28 bytes; got 36",
        "8  | 00ffffff03000000 | 17179868928 bits; 2147483636 bytes; got 36",
      })
  void aWrongFieldUnderAGoodChecksumIsNamed(int offset, String hex, String facts) {
    byte[] bytes = filter().toBytes();
    byte[] field = HexFormat.of().parseHex(hex);
    System.arraycopy(field, 0, bytes, offset, field.length);
    seal(bytes);
    assertRefused(bytes, facts);
  }

  @Test
  void aWrongChecksumAndShortInputAreNamed() {
    byte[] bytes = filter().toBytes();
    bytes[20] ^= 1;
    assertRefused(bytes, "the checksum of a Bloom filter does not match");
    assertRefused(new byte[27], "a Bloom filter must be at least 28 bytes, got 27");
  }

  @Test
  void noiseIsRefused() {
    SplittableRandom random = new SplittableRandom(13);
    for (int i = 0; i < 1_000; i++) {
      byte[] noise = new byte[random.nextInt(100)];
      random.nextBytes(noise);
      assertThatThrownBy(() -> BloomFilter.fromBytes(noise))
          .isInstanceOf(MalformedBloomFilterException.class);
    }
  }

  private static void seal(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length - 4);
    ByteBuffer.wrap(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(bytes.length - 4, (int) crc.getValue());
  }
}
