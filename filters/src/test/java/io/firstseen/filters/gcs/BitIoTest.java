package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BitIoTest {
  @Property(seed = "41")
  void readsWhatWasWritten(
      @ForAll @Size(max = 200) List<Long> values, @ForAll @IntRange(max = 64) int firstWidth) {
    BitWriter writer = new BitWriter(0);
    List<Integer> widths = new ArrayList<>();
    for (long value : values) {
      int width = (firstWidth + 7 * widths.size()) % 65;
      widths.add(width);
      writer.write(value, width);
    }
    byte[] bytes = writer.toBytes();
    assertThat((long) bytes.length).isEqualTo((writer.bitLength() + 7) / 8);
    BitReader reader = new BitReader(ByteBuffer.wrap(bytes));
    long position = 0;
    for (int i = 0; i < values.size(); i++) {
      int width = widths.get(i);
      long mask = width == 0 ? 0 : -1L >>> (64 - width);
      assertThat(reader.bitsAt(position, width)).isEqualTo(values.get(i) & mask);
      position += width;
    }
    assertThat(reader.wordAt(position)).as("padding and what follows").isZero();
  }

  @Test
  void countsOnesOverAnyNumberOfWords() {
    for (int ones : new int[] {0, 1, 7, 8, 63, 64, 65, 127, 128, 1000}) {
      for (int offset = 0; offset < 9; offset++) {
        BitWriter writer = new BitWriter(0);
        writer.write(0, offset);
        writer.writeUnary(ones);
        assertThat(writer.bitLength()).isEqualTo(offset + ones + 1);
        BitReader reader = new BitReader(ByteBuffer.wrap(writer.toBytes()));
        assertThat(reader.onesAt(offset)).isEqualTo(ones);
      }
    }
  }

  @Test
  void countsOnesBackwardsOverAnyNumberOfWords() {
    for (int ones : new int[] {0, 1, 7, 8, 56, 57, 63, 64, 65, 127, 128, 1000}) {
      for (int before = 0; before < 70; before += 23) {
        for (int after = 0; after < 9; after++) {
          BitWriter writer = new BitWriter(0);
          writer.write(0, before);
          for (int i = 0; i < ones; i++) {
            writer.write(1, 1);
          }
          long end = writer.bitLength();
          writer.write(-1, after);
          BitReader reader = new BitReader(ByteBuffer.wrap(writer.toBytes()));
          assertThat(reader.onesBefore(end)).isEqualTo(ones);
        }
      }
    }
  }

  @Test
  void windowsEndBeforeTheirPosition() {
    byte[] bytes = new byte[20];
    new SplittableRandom(42).nextBytes(bytes);
    BitReader reader = new BitReader(ByteBuffer.wrap(bytes));
    for (int position = 0; position <= 160; position++) {
      int bits = BitReader.bitsBefore(position);
      assertThat(bits).isBetween(Math.min(position, 57), Math.min(position, 63));
      long window = reader.windowBefore(position) & ((1L << bits) - 1);
      assertThat(window).isEqualTo(reader.bitsAt(position - bits, bits));
    }
  }

  @Property(seed = "47")
  void backwardBitsComeLastOneFirst(
      @ForAll @Size(max = 300) List<@IntRange(max = 100) Integer> runs) {
    BackwardBits bits = new BackwardBits();
    for (int run : runs) {
      bits.addUnary(run);
      bits.add(run & 1, 1);
    }
    BitWriter writer = new BitWriter(0);
    bits.writeBackwards(writer);
    long position = writer.bitLength();
    BitReader reader = new BitReader(ByteBuffer.wrap(writer.toBytes()));
    for (int run : runs) {
      assertThat(reader.onesBefore(position)).isEqualTo(run);
      position -= run + 2;
      assertThat(reader.bitsAt(position, 1)).isEqualTo(run & 1);
    }
    assertThat(position).isZero();
  }

  @Test
  void streamsWhatItWouldHold() {
    SplittableRandom random = new SplittableRandom(43);
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    BitWriter streaming = new BitWriter(stream);
    BitWriter holding = new BitWriter(0);
    for (int i = 0; i < 100_000; i++) {
      long value = random.nextLong();
      int width = random.nextInt(65);
      streaming.write(value, width);
      holding.write(value, width);
      assertThat(streaming.bitLength()).isEqualTo(holding.bitLength());
    }
    streaming.finish();
    assertThat(stream.toByteArray()).isEqualTo(holding.toBytes());
  }

  @Test
  void aRunOfOnesEndsWithTheBytes() {
    byte[] ones = {-1, -1, -1};
    assertThat(new BitReader(ByteBuffer.wrap(ones)).onesAt(5)).isEqualTo(19);
    assertThat(new BitReader(ByteBuffer.wrap(ones)).onesAt(1L << 40)).isZero();
  }

  @Test
  void looksOnlyAtWhatRemainsInItsBuffer() {
    ByteBuffer middle = ByteBuffer.wrap(new byte[] {-1, -1, 0, -1, -1}).position(1).limit(3);
    BitReader reader = new BitReader(middle);
    assertThat(reader.onesAt(0)).isEqualTo(8);
    assertThat(reader.wordAt(0)).isEqualTo(0xFFL << 56);
  }

  /** Other implementations hold bit positions in 32 bits. */
  @Test
  void positionsGoBeyondTwoToThe31() {
    // A multiple of 60.
    long position = (1L << 31) + 952;
    BitWriter writer = new BitWriter(position + 40);
    for (long written = 0; written < position; written += 60) {
      writer.write(0, 60);
    }
    writer.write(0x1234567890L, 40);
    BitReader reader = new BitReader(ByteBuffer.wrap(writer.toBytes()));
    assertThat(reader.bitsAt(position, 40)).isEqualTo(0x1234567890L);
    assertThat(reader.bitsAt(position - 3, 43)).isEqualTo(0x1234567890L);
    assertThat(reader.bitsAt(position & 0x7FFFFFFF, 40)).isZero();
  }
}
