package io.firstseen.filters.gcs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class GolombCodedSetDamageTest {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  @Test
  void refusesPaddingThatIsNotZero() throws Exception {
    // The set {0} of one bit: m = 1, the code is a single 0.
    assertThat(wrap(1, 1, 1, 0b0000_0000).mightContain(0)).isTrue();
    assertWrapRefused("the padding of the payload must be zero", 1, 1, 1, 0b0000_0001);
    assertWrapRefused("the padding of the payload must be zero", 1, 1, 1, 0b0100_0000);
  }

  @Test
  void refusesMissingAndExcessBytes() {
    assertWrapRefused("the payload must have 1 bytes, got 2", 1, 1, 1, 0, 0);
    assertWrapRefused("the payload must have 2 bytes, got 1", 1, 1, 9, 0);
    assertWrapRefused("the payload must have 0 bytes, got 1", 0, 1, 0, 0);
    assertWrapRefused("the payload of an empty set must have 0 bits, got 1", 0, 1, 1, 0);
    assertWrapRefused("bytes, got 1", 1, 1, Long.MAX_VALUE, 0);
    assertWrapRefused("bytes, got 1", 1, 1, -1, 0);
    assertThatThrownBy(
            () -> GolombCodedSet.wrap(1, 1, 1, ByteBuffer.allocate(1), ByteBuffer.allocate(1)))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessage("the bucket starts must have 0 bytes, got 1");
  }

  @Test
  void refusesACountThatThePayloadCannotHold() {
    assertWrapRefused(
        "count must be at most 1, since a value takes at least 7 of the payload's 8 bits, got 9",
        9,
        10,
        8,
        0);
    assertWrapRefused("count must be at most 8, since a value takes at least 1 of", 16, 4, 8, 0);
    assertWrapRefused("count must be in [0, 2^3], got 9", 9, 3, 8, 0);
    assertWrapRefused("count must be in [0, 2^64], got -1", -1, 64, 8, 0);
    assertWrapRefused("count must be at most 8, since", Long.MAX_VALUE, 64, 8, 0);
  }

  @Test
  void refusesAValueOutOfRange() throws Exception {
    // b = 4, n = 1: m = 11, remainders below 5 take 3 bits, others 4 bits.
    assertThat(wrap(1, 4, 5, 0b10_100_000).toArray()).containsExactly(15);
    assertVerifyRefused("a value of bucket 0 must be at most 15", 1, 4, 6, 0b10_1010_00);
    assertVerifyRefused("a value of bucket 0 must be at most 15", 1, 4, 6, 0b110_000_00);
    // b = 1, n = 2: m = 1; the values 1 and then another.
    assertVerifyRefused("a value of bucket 0 must be at most 1", 2, 1, 3, 0b10_0_00000);
  }

  @Test
  void refusesACodeThatRunsOverTheEnd() {
    assertVerifyRefused("bucket 0 must end at bit 5, got a code up to 6", 1, 4, 5, 0b10_101_000);
    assertVerifyRefused("bucket 0 must end at bit 8", 1, 4, 8, 0b1111_1111);
  }

  @Test
  void refusesACountThatIsNotThatOfThePayload() {
    assertVerifyRefused("the payload must hold 1 values, got more", 1, 1, 2, 0b00_000000);
    assertVerifyRefused("the payload must hold 2 values, got 1", 2, 1, 2, 0b10_000000);
  }

  @Test
  void refusesBucketStartsOutOfOrder() throws Exception {
    long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(31), 200, 40);
    GolombCodedSet set = GolombCodedSet.of(values, 40);
    ByteBuffer starts = copy(set.bucketStarts());
    starts.put(0, (byte) 0xFF);
    assertThatThrownBy(
            () -> GolombCodedSet.wrap(set.count(), 40, set.payloadBits(), starts, set.payload()))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageStartingWith("bucket 2 must begin at bit ");
  }

  /** Every flip gives a refusal, or another set in its own canonical form. */
  @Test
  void noFlippedBitGivesASecondFormOfASet() throws Exception {
    int refused = 0;
    for (int count : new int[] {1, 3, 70, 150}) {
      long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(32), count, 14);
      GolombCodedSet set = GolombCodedSet.of(values, 14);
      int startsBits = set.bucketStarts().remaining() * 8;
      for (int bit = 0; bit < startsBits + set.payload().remaining() * 8; bit++) {
        ByteBuffer starts = copy(set.bucketStarts());
        ByteBuffer payload = copy(set.payload());
        if (bit < startsBits) {
          flip(starts, bit);
        } else {
          flip(payload, bit - startsBits);
        }
        try {
          GolombCodedSet other = GolombCodedSet.wrap(count, 14, set.payloadBits(), starts, payload);
          other.verify();
          assertThat(other.toArray()).isNotEqualTo(values);
          GolombCodedSet again = GolombCodedSet.of(other.toArray(), 14);
          assertThat(again.payload()).isEqualTo(payload);
          assertThat(again.bucketStarts()).isEqualTo(starts);
        } catch (MalformedGolombCodedSetException e) {
          refused++;
        }
      }
    }
    assertThat(refused).isPositive();
  }

  /** What was not verified may answer wrongly, but must stay in bounds and end. */
  @Test
  void forgedSectionsAreSafeToQuery() {
    SplittableRandom random = new SplittableRandom(33);
    int opened = 0;
    for (int i = 0; i < 20_000; i++) {
      int valueBits = 1 + random.nextInt(64);
      byte[] bytes = new byte[1 + random.nextInt(60)];
      random.nextBytes(bytes);
      if (random.nextInt(4) == 0) {
        Arrays.fill(bytes, (byte) -1);
      }
      long payloadBits = bytes.length * 8L;
      long count = 1 + random.nextLong(valueBits < 6 ? 1L << valueBits : 63);
      GolombCodedSet set;
      try {
        set = GolombCodedSet.wrap(count, valueBits, payloadBits, NOTHING, ByteBuffer.wrap(bytes));
      } catch (MalformedGolombCodedSetException e) {
        continue;
      }
      opened++;
      for (int query = 0; query < 10; query++) {
        set.mightContain(random.nextLong() >>> (64 - valueBits));
      }
      assertIteratesOrRefuses(set);
    }
    assertThat(opened).isGreaterThan(1000);
  }

  private static void assertIteratesOrRefuses(GolombCodedSet set) {
    long found = 0;
    try {
      PrimitiveIterator.OfLong iterator = set.iterator();
      while (iterator.hasNext()) {
        iterator.nextLong();
        found++;
      }
      assertThat(found).isEqualTo(set.count());
    } catch (UncheckedIOException e) {
      assertThat(e).hasCauseInstanceOf(MalformedGolombCodedSetException.class);
      assertThat(found).isLessThanOrEqualTo(set.count());
    }
  }

  private static void assertWrapRefused(
      String message, long count, int valueBits, long payloadBits, int... payload) {
    assertThatThrownBy(() -> wrap(count, valueBits, payloadBits, payload))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContaining(message);
  }

  private static void assertVerifyRefused(
      String message, long count, int valueBits, long payloadBits, int... payload) {
    assertThatThrownBy(() -> wrap(count, valueBits, payloadBits, payload).verify())
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContaining(message);
  }

  private static GolombCodedSet wrap(long count, int valueBits, long payloadBits, int... payload)
      throws MalformedGolombCodedSetException {
    byte[] bytes = new byte[payload.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) payload[i];
    }
    return GolombCodedSet.wrap(count, valueBits, payloadBits, NOTHING, ByteBuffer.wrap(bytes));
  }

  private static ByteBuffer copy(ByteBuffer buffer) {
    return ByteBuffer.allocate(buffer.remaining()).put(buffer).flip();
  }

  private static void flip(ByteBuffer bytes, int bit) {
    bytes.put(bit / 8, (byte) (bytes.get(bit / 8) ^ 0x80 >>> bit % 8));
  }
}
