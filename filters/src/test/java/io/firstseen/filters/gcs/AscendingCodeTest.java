package io.firstseen.filters.gcs;

import static io.firstseen.filters.gcs.GolombCodedSetTest.encode;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.PrimitiveIterator;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AscendingCodeTest {

  @Test
  void givesBackWhatItTook() {
    SplittableRandom random = new SplittableRandom(201);
    for (int round = 0; round < 3000; round++) {
      int bits = 1 + random.nextInt(64);
      long greatest = -1L >>> random.nextInt(64) & random.nextLong();
      greatest >>>= 64 - bits;
      long[] numbers = numbers(random, random.nextInt(60), greatest);
      BitWriter out = new BitWriter(0);
      int before = random.nextInt(20);
      out.write(random.nextLong(), before);
      AscendingCode code = new AscendingCode(numbers.length, greatest);
      code.encode(Arrays.stream(numbers).iterator(), out);
      long end = out.bitLength();
      out.write(random.nextLong(), random.nextInt(20));
      BitReader in = new BitReader(ByteBuffer.wrap(out.toBytes()));
      assertThat(all(code.decode(in, before, end))).as("round %d", round).isEqualTo(numbers);
      assertThat(end - before).isGreaterThanOrEqualTo((long) numbers.length * code.minBits());
    }
  }

  /** 5, 6, 23 of 0 to 31: m = floor((L · 2 · 32 + 3 · 2^64) / (3 · 2^65)) = 7, s = 2, c = 1. */
  @Test
  void hasTheSpecifiedBits() {
    BitWriter out = new BitWriter(0);
    new AscendingCode(3, 31).encode(Arrays.stream(new long[] {5, 6, 23}).iterator(), out);
    assertThat(out.bitLength()).isEqualTo(4 + 3 + 6);
    // 5: 0, 5 + 1 in 3 bits. 6: 0, 0 in 2 bits. 16 = 2 · 7 + 2: 110, 2 + 1 in 3 bits.
    assertThat(new BitReader(ByteBuffer.wrap(out.toBytes())).bitsAt(0, 13))
        .isEqualTo(0b0110_000_110011);
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 0", "2, 1", "1, -1", "3, -1"})
  void takesTheFirstAndTheLastNumbers(int count, long greatest) {
    long[] numbers = new long[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = i == count - 1 ? greatest : i;
    }
    BitWriter out = new BitWriter(0);
    AscendingCode code = new AscendingCode(count, greatest);
    code.encode(Arrays.stream(numbers).iterator(), out);
    long end = out.bitLength();
    BitReader in = new BitReader(ByteBuffer.wrap(out.toBytes()));
    assertThat(all(code.decode(in, 0, end))).isEqualTo(numbers);
  }

  @Test
  void takesAboutAsManyBitsAsTheSetWithoutItsBucketStarts() {
    SplittableRandom random = new SplittableRandom(202);
    long[] values = numbers(random, 20_000, (1L << 36) - 1);
    BitWriter out = new BitWriter(0);
    new AscendingCode(values.length, (1L << 36) - 1).encode(Arrays.stream(values).iterator(), out);
    double ofSet = encode(values, 36).payloadBits();
    assertThat(out.bitLength() / ofSet).isBetween(0.99, 1.005);
  }

  @Test
  void refusesNumbersOutOfOrderOrRange() {
    assertRefused(2, "numbers must be ascending and distinct, got 3 after 3", 3, 3);
    assertRefused(2, "numbers must be ascending and distinct, got 2 after 3 at index 1", 3, 2);
    assertRefused(2, "a number must be at most 9, got 10", 3, 10);
    assertRefused(2, "there must be 2 numbers, got 1", 3);
    assertRefused(2, "there must be 2 numbers, got more", 3, 4, 5);
    assertThatThrownBy(() -> new AscendingCode(11, 9))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("count", "[0, 9 + 1]", "11");
    assertThatThrownBy(() -> new AscendingCode(-1, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Of all strings of bits up to a length, exactly those are accepted that are written. */
  @Test
  void acceptsWhatItWouldHaveWrittenAlone() {
    int longest = Integer.getInteger("firstseen.scale", 1) > 1 ? 14 : 11;
    for (int greatest : new int[] {0, 1, 5, 12}) {
      for (int count = 0; count <= Math.min(4, greatest + 1); count++) {
        AscendingCode code = new AscendingCode(count, greatest);
        Set<String> written = new HashSet<>();
        for (int subset = 0; subset < 2 << greatest; subset++) {
          if (Integer.bitCount(subset) == count) {
            BitWriter out = new BitWriter(0);
            int chosen = subset;
            code.encode(
                IntStream.rangeClosed(0, greatest)
                    .filter(number -> (chosen >>> number & 1) != 0)
                    .asLongStream()
                    .iterator(),
                out);
            int length = (int) out.bitLength();
            if (length <= longest) {
              written.add(text(new BitReader(ByteBuffer.wrap(out.toBytes())), length));
            }
          }
        }
        Set<String> accepted = new HashSet<>();
        for (int length = 0; length <= longest; length++) {
          for (long bits = 0; bits < 1L << length; bits++) {
            BitWriter out = new BitWriter(0);
            out.write(bits, length);
            BitReader in = new BitReader(ByteBuffer.wrap(out.toBytes()));
            try {
              all(code.decode(in, 0, length));
              accepted.add(text(in, length));
            } catch (UncheckedIOException e) {
              // So often that an assertion each would take most of the time.
              if (!(e.getCause() instanceof MalformedGolombCodedSetException)) {
                throw e;
              }
            }
          }
        }
        assertThat(accepted).as("%d of %d", count, greatest).isEqualTo(written);
      }
    }
  }

  /**
   * Of all strings of up to two bytes, those are accepted that are codes and fewer than 8 zeros.
   */
  @Test
  void filledCodesEndInTheLastByteBeforeZeros() {
    AscendingCode code = new AscendingCode(2, 12);
    Set<Long> written = new HashSet<>();
    Set<Long> accepted = new HashSet<>();
    for (int bytes = 0; bytes <= 2; bytes++) {
      int end = 8 * bytes;
      for (int bits = 0; bits < 1 << end; bits++) {
        BitWriter filled = new BitWriter(0);
        filled.write(bits, end);
        BitReader in = new BitReader(ByteBuffer.wrap(filled.toBytes()));
        try {
          long[] numbers = all(code.decodeFilled(in, 0, end));
          accepted.add((long) end << 32 | bits);
          BitWriter out = new BitWriter(0);
          code.encode(Arrays.stream(numbers).iterator(), out);
          if (out.toBytes().length == bytes && Arrays.equals(out.toBytes(), filled.toBytes())) {
            written.add((long) end << 32 | bits);
          }
        } catch (UncheckedIOException e) {
          if (!(e.getCause() instanceof MalformedGolombCodedSetException)) {
            throw e;
          }
        }
      }
    }
    assertThat(accepted).as("all pairs of numbers").hasSize(13 * 12 / 2).isEqualTo(written);
  }

  private static String text(BitReader bits, int length) {
    return length + ":" + bits.bitsAt(0, length);
  }

  private static void assertRefused(int count, String sentence, long... numbers) {
    assertThatThrownBy(
            () ->
                new AscendingCode(count, 9)
                    .encode(Arrays.stream(numbers).iterator(), new BitWriter(0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(sentence);
  }

  /** Up to so many distinct numbers, ascending as unsigned ones. */
  private static long[] numbers(SplittableRandom random, int count, long greatest) {
    TreeSet<Long> numbers = new TreeSet<>(Long::compareUnsigned);
    for (int i = 0; i < count; i++) {
      long number = random.nextLong() >>> random.nextInt(8);
      numbers.add(greatest == -1 ? number : Long.remainderUnsigned(number, greatest + 1));
    }
    return numbers.stream().mapToLong(Long::longValue).toArray();
  }

  private static long[] all(PrimitiveIterator.OfLong numbers) {
    long[] all = new long[8];
    int count = 0;
    while (numbers.hasNext()) {
      if (count == all.length) {
        all = Arrays.copyOf(all, 2 * count);
      }
      all[count++] = numbers.nextLong();
    }
    return Arrays.copyOf(all, count);
  }
}
