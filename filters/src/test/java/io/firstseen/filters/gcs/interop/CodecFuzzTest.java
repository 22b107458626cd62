package io.firstseen.filters.gcs.interop;

import static io.firstseen.filters.gcs.interop.Vectors.hex;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.ThreadMXBean;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.interop.RiceForm.Gaps;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * 200,000 damaged sets per codec: each is rejected, or is exactly the set that the other program
 * would read and write, bit for bit. Offsets and rules are stated again here.
 */
class CodecFuzzTest {
  private static final int ROUNDS = 20_000 * Integer.getInteger("firstseen.scale", 1);
  private static final int MAX_OVERHEAD_BYTES = 1 << 20;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private long refused;
  private long accepted;

  /** How another program reads bytes: bit by bit, and without a doubt. */
  private interface Reader {
    /** The header's bits, the form, the greatest value that there can be, and the values. */
    Reading read(byte[] bytes);
  }

  private record Reading(int headerBits, RiceForm form, long maxValue, List<Long> values) {}

  @Test
  void original() {
    JsonNode nato = Vectors.read("nato");
    List<byte[]> seeds = new ArrayList<>();
    seeds.add(hex("0000001a00000040" + nato.get("bytes").textValue()));
    for (long p : new long[] {1, 4, 128, 1L << 27}) {
      seeds.add(new OriginalCodec(p).encode(Vectors.texts(nato.get("words"))));
    }
    seeds.add(new OriginalCodec(1024).encode(List.of()));
    fuzz(
        new OriginalCodec(1024),
        seeds,
        bytes -> {
          int log2P = Long.numberOfTrailingZeros(bits(bytes, 32, 32));
          RiceForm form = new RiceForm(log2P, Gaps.DIFFERENCE_BUT_ZERO, true, false);
          // The tools add a 0 that padding may look like, and it changes nothing.
          List<Long> values =
              values(bytes, 64, form).stream().filter(v -> v > 0).distinct().toList();
          assertThat((long) values.size()).isLessThanOrEqualTo(bits(bytes, 0, 32));
          long range = Math.min(bits(bytes, 0, 32) << log2P, 1L << 32);
          return new Reading(64, form, range - 1, values);
        });
  }

  @Test
  void bip158() {
    List<byte[]> seeds =
        new ArrayList<>(
            Vectors.elements(Vectors.read("bip158").get("vectors"))
                .map(block -> hex(block.get("filter").textValue()))
                .toList());
    Bip158Codec codec = new Bip158Codec(new byte[16]);
    seeds.add(
        codec.encode(LongStream.range(0, 300).mapToObj(i -> ("" + i).getBytes(UTF_8)).toList()));
    fuzz(
        codec,
        seeds,
        bytes -> {
          int first = bytes[0] & 0xFF;
          int n = first < 0xFD ? first : (bytes[2] & 0xFF) << 8 | (bytes[1] & 0xFF);
          int headerBits = first < 0xFD ? 8 : 24;
          RiceForm form = new RiceForm(19, Gaps.DIFFERENCE, true, false);
          return new Reading(
              headerBits, form, n * 784_931L - 1, values(bytes, headerBits, form).subList(0, n));
        });
  }

  @Test
  void golombset() {
    List<byte[]> seeds = new ArrayList<>();
    GolombsetCodecTest.sets().forEach(set -> seeds.add(hex(set.get("encoded").textValue())));
    seeds.remove(seeds.size() - 1);
    seeds.add(hex("07"));
    fuzz(
        new GolombsetCodec(),
        seeds,
        bytes -> {
          RiceForm form =
              new RiceForm((int) bits(bytes, 0, 5), Gaps.DIFFERENCE_LESS_ONE, true, true);
          return new Reading(5, form, Long.MAX_VALUE, values(bytes, 5, form));
        });
  }

  @Test
  void casper() {
    List<byte[]> seeds =
        CasperCodecTest.cookies().map(cookie -> hex(cookie.get("encoded").textValue())).toList();
    RiceForm form = new RiceForm(6, Gaps.DIFFERENCE_LESS_ONE, false, false);
    fuzz(
        new CasperCodec(),
        seeds,
        bytes -> new Reading(0, form, (1 << 13) - 1, values(bytes, 0, form)));
  }

  private void fuzz(SetCodec codec, List<byte[]> seeds, Reader reader) {
    SplittableRandom random = new SplittableRandom(2026);
    for (byte[] seed : seeds) {
      check(codec, seed, reader);
    }
    assertThat(refused).as("the seeds are sets").isZero();
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = seeds.get(random.nextInt(seeds.size())).clone();
      for (int damages = 1 + random.nextInt(3); damages > 0; damages--) {
        bytes = damaged(bytes, random);
      }
      check(codec, bytes, reader);
    }
    assertThat(refused).isGreaterThan(ROUNDS / 10);
    assertThat(accepted).isGreaterThan(ROUNDS / 100);
  }

  private void check(SetCodec codec, byte[] bytes, Reader reader) {
    long before = threads.getCurrentThreadAllocatedBytes();
    CodedSet set;
    try {
      set = codec.decode(bytes);
      accepted++;
    } catch (MalformedGolombCodedSetException e) {
      set = null;
      refused++;
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    if (allocated > 2L * bytes.length + MAX_OVERHEAD_BYTES) {
      throw new AssertionError(Vectors.hex(bytes) + " took " + allocated + " bytes");
    }
    if (set != null) {
      // In bounds and without a failure, whatever the answer.
      set.mightContain("77".getBytes(UTF_8));
      Reading reading = reader.read(bytes);
      long[] values = Vectors.values(set);
      if (values.length > 0 && values[values.length - 1] > reading.maxValue()) {
        throw new AssertionError(Vectors.hex(bytes) + " holds more than " + reading.maxValue());
      }
      if (!Arrays.equals(values, reading.values().stream().mapToLong(Long::longValue).toArray())) {
        throw new AssertionError(
            Vectors.hex(bytes) + " is " + reading + ", read as " + Arrays.toString(values));
      }
      long header = bits(bytes, 0, reading.headerBits());
      byte[] again = reading.form().encode(header, reading.headerBits(), values);
      if (!Arrays.equals(again, bytes)) {
        throw new AssertionError(Vectors.hex(bytes) + " is written as " + Vectors.hex(again));
      }
    }
  }

  private static byte[] damaged(byte[] bytes, SplittableRandom random) {
    int at = random.nextInt(bytes.length + 1);
    switch (random.nextInt(6)) {
      case 0 -> {
        return Arrays.copyOf(bytes, at);
      }
      case 1 -> {
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(3));
        System.arraycopy(bytes, at, longer, at + longer.length - bytes.length, bytes.length - at);
        return longer;
      }
      case 2 -> {
        byte[] shorter = Arrays.copyOf(bytes, Math.max(0, bytes.length - 1));
        if (at < shorter.length) {
          System.arraycopy(bytes, at + 1, shorter, at, shorter.length - at);
        }
        return shorter;
      }
      case 3 -> {
        byte[] forged = bytes.clone();
        if (at < bytes.length) {
          forged[at] = (byte) (random.nextBoolean() ? 0xFF : random.nextInt(256));
        }
        return forged;
      }
      default -> {
        byte[] flipped = bytes.clone();
        if (at < bytes.length) {
          flipped[at] ^= (byte) (1 << random.nextInt(8));
        }
        return flipped;
      }
    }
  }

  private static List<Long> values(byte[] bytes, int headerBits, RiceForm form) {
    List<Long> values = new ArrayList<>();
    int position = headerBits;
    long next = 0;
    while (true) {
      long quotient = 0;
      while (position < 8 * bytes.length && bit(bytes, position) == (form.runOfOnes() ? 1 : 0)) {
        quotient++;
        position++;
      }
      if (position + 1 + form.remainderBits() > 8 * bytes.length) {
        return values;
      }
      long value = next + (quotient << form.remainderBits());
      value += bits(bytes, position + 1, form.remainderBits());
      position += 1 + form.remainderBits();
      values.add(value);
      next = form.gaps() == Gaps.DIFFERENCE_LESS_ONE ? value + 1 : value;
    }
  }

  private static long bits(byte[] bytes, int position, int count) {
    long bits = 0;
    for (int i = 0; i < count; i++) {
      bits = bits << 1 | bit(bytes, position + i);
    }
    return bits;
  }

  private static int bit(byte[] bytes, int position) {
    return bytes[position >> 3] >> (7 - (position & 7)) & 1;
  }
}
