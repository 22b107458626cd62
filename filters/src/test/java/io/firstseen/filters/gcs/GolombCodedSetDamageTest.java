package io.firstseen.filters.gcs;

import static io.firstseen.filters.gcs.GolombCodedSetTest.encode;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class GolombCodedSetDamageTest {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  @Test
  void refusesPaddingThatIsNotZero() throws Exception {
    // The set {0} of one bit: m = 1, the code is a single 0.
    assertThat(wrap(1, 1, 1, 0b0000_0000).contains(0)).isTrue();
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
            () ->
                GolombCodedSet.wrap(
                    1, new Universe(1, 2), 1, ByteBuffer.allocate(1), ByteBuffer.allocate(1)))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContainingAll("bucket starts", "0 bytes", "got 1");
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
    assertWrapRefused("count must be in [0, 8], got 9", 9, 3, 8, 0);
    assertWrapRefused("count must be in [0, 4611686018427387904], got -1", -1, 62, 8, 0);
    assertWrapRefused("count must be at most 8, since", 1L << 62, 62, 8, 0);
  }

  /** Each bucket takes time to check, and empty ones take no bytes. */
  @Test
  void refusesMoreBucketsThanASetCanFill() {
    assertThatThrownBy(
            () ->
                GolombCodedSet.wrap(
                    40, new Universe(65_537, 1000), 400, NOTHING, ByteBuffer.allocate(50)))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContainingAll("40 values", "65537 buckets");
  }

  @Test
  void refusesAValueOutOfRange() throws Exception {
    // b = 4, n = 1: m = 11, so fields of 3 bits, below 5 alone, else one more bit. 15 is 11 + 4:
    // the field 100, and from behind a one and a zero.
    assertThat(wrap(1, 4, 5, 0b100_01_000).toArray()).containsExactly(15);
    // 11 + 5: the field 101, and from behind 1, 0, 0.
    assertVerifyRefused("a value of bucket 0 must be at most 15", 1, 4, 6, 0b101_001_00);
    assertVerifyRefused("a value of bucket 0 must be at most 15", 1, 4, 6, 0b000_011_00);
    // b = 1, n = 2: m = 1; the values 1 and then another.
    assertVerifyRefused("a value of bucket 0 must be at most 1", 2, 1, 3, 0b001_00000);
  }

  @Test
  void refusesCodesThatDoNotFillTheirBucket() {
    // The field asks for one more bit than there is.
    assertVerifyRefused("the codes of bucket 0 must fill it", 1, 4, 5, 0b101_01_000);
    assertVerifyRefused("the codes of bucket 0 must fill it", 1, 4, 8, 0b1111_1111);
    assertVerifyRefused("the codes of bucket 0 must fill it", 1, 4, 4, 0b000_1_0000);
  }

  @Test
  void refusesACountThatIsNotThatOfThePayload() {
    assertVerifyRefused("the payload must hold 1 values, got more", 1, 1, 2, 0b00_000000);
    assertVerifyRefused("the payload must hold 2 values, got 1", 2, 1, 2, 0b01_000000);
  }

  @Test
  void refusesDamagedBucketStarts() throws Exception {
    assertStartsRefused("bucket 0 must begin at bit 0, got ", starts -> starts.put(0, (byte) -1));
    long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(35), 2000, 40);
    GolombCodedSet set = encode(values, 40);
    List<String> refusals = new ArrayList<>();
    for (int bit = 0; bit < set.bucketStarts().remaining() * 8 - 18 * 8; bit++) {
      ByteBuffer starts = copy(set.bucketStarts());
      flip(starts, bit);
      try {
        GolombCodedSet.wrap(set.count(), set.universe(), set.payloadBits(), starts, set.payload())
            .verify();
      } catch (MalformedGolombCodedSetException e) {
        refusals.add(e.getMessage());
      }
    }
    assertThat(refusals).anyMatch(sentence -> sentence.contains("in their least form"));
    assertThat(refusals).anyMatch(sentence -> sentence.contains("padding"));
  }

  @Test
  void refusesBucketStartsOfAnotherLength() throws Exception {
    assertStartsRefused("must have at least 18 bytes, got 17", starts -> starts.limit(17));
    assertStartsRefused(" bytes, got ", starts -> starts.position(1));
    int trailer = -2;
    assertStartsRefused(
        "a bucket start must have 0 to 40 bits, got 41",
        starts -> starts.put(starts.limit() + trailer, (byte) 41));
    assertStartsRefused(
        "a bucket start must have 0 to 40 bits, got -1",
        starts -> starts.put(starts.limit() - 1, (byte) -1));
    assertStartsRefused(
        "the bucket starts must have ",
        starts -> starts.put(starts.limit() - 1, (byte) (starts.get(starts.limit() - 1) + 1)));
  }

  /** The same starts, the deviations one bit wider: readable, but a second form. */
  @Test
  void refusesBucketStartsThatAreNotInLeastForm() throws Exception {
    long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(34), 60, 40);
    GolombCodedSet set = encode(values, 40);
    assertThat(set.universe().buckets()).isEqualTo(2);
    ByteBuffer least = set.bucketStarts();
    int groupWidth = least.get(least.limit() - 2);
    int memberWidth = least.get(least.limit() - 1);
    BitReader fields = new BitReader(least);
    BitWriter wider = new BitWriter(0);
    wider.write(fields.bitsAt(0, groupWidth), groupWidth);
    for (int member = 0; member < 7; member++) {
      long at = groupWidth + (long) member * memberWidth;
      wider.write(fields.bitsAt(at, memberWidth), memberWidth + 1);
    }
    wider.write(fields.bitsAt(groupWidth + 7L * memberWidth, groupWidth), groupWidth);
    wider.write(0, (int) (-wider.bitLength() & 7));
    for (int i = 18; i > 1; i--) {
      wider.write(least.get(least.limit() - i), 8);
    }
    wider.write(memberWidth + 1L, 8);
    assertThatThrownBy(
            () ->
                GolombCodedSet.wrap(
                    set.count(),
                    set.universe(),
                    set.payloadBits(),
                    ByteBuffer.wrap(wider.toBytes()),
                    set.payload()))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContainingAll("bucket starts", "least form");
  }

  /** Every flipped bit is rejected, or gives a different set in canonical form. */
  @Test
  void noFlippedBitGivesASecondFormOfASet() throws Exception {
    int refused = 0;
    for (int count : new int[] {1, 3, 70, 400}) {
      long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(32), count, 14);
      GolombCodedSet set = encode(values, 14);
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
          GolombCodedSet other =
              GolombCodedSet.wrap(count, set.universe(), set.payloadBits(), starts, payload);
          other.verify();
          assertThat(other.toArray()).isNotEqualTo(values);
          GolombCodedSet again = GolombCodedSet.of(other.toArray(), set.universe());
          assertThat(again.payload()).isEqualTo(payload);
          assertThat(again.bucketStarts()).isEqualTo(starts);
        } catch (MalformedGolombCodedSetException e) {
          refused++;
        }
      }
    }
    assertThat(refused).isPositive();
  }

  /** Queries on unverified bytes may return wrong results, but must stay in bounds and end. */
  @Test
  void forgedSectionsAreSafeToQuery() {
    SplittableRandom random = new SplittableRandom(33);
    int opened = 0;
    for (int i = 0; i < 20_000; i++) {
      int valueBits = 1 + random.nextInt(62);
      byte[] bytes = new byte[1 + random.nextInt(60)];
      random.nextBytes(bytes);
      if (random.nextInt(4) == 0) {
        Arrays.fill(bytes, (byte) -1);
      }
      long payloadBits = bytes.length * 8L;
      long count = 1 + random.nextLong(valueBits < 6 ? 1L << valueBits : 36);
      GolombCodedSet set;
      try {
        set =
            GolombCodedSet.wrap(
                count,
                new Universe(1, 1L << valueBits),
                payloadBits,
                NOTHING,
                ByteBuffer.wrap(bytes));
      } catch (MalformedGolombCodedSetException e) {
        continue;
      }
      opened++;
      for (int query = 0; query < 10; query++) {
        set.contains(random.nextLong() >>> (64 - valueBits));
        set.mightContain(random.nextLong());
      }
      assertMatchesOrRefuses(set, random.longs(10).map(v -> v >>> (64 - valueBits)).toArray());
      assertIteratesOrRefuses(set);
    }
    assertThat(opened).isGreaterThan(1000);
  }

  private static void assertMatchesOrRefuses(GolombCodedSet set, long[] values) {
    long[] ascending = UnsignedSort.sorted(values);
    try {
      assertThat(set.nextMatch(ascending, 0)).isBetween(-1, values.length - 1);
    } catch (UncheckedIOException e) {
      assertThat(e).hasCauseInstanceOf(MalformedGolombCodedSetException.class);
    }
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

  private static void assertStartsRefused(String message, Consumer<ByteBuffer> damage) {
    long[] values = GolombCodedSetTest.randomValues(new SplittableRandom(31), 2000, 40);
    GolombCodedSet set = encode(values, 40);
    ByteBuffer starts = copy(set.bucketStarts());
    damage.accept(starts);
    assertThatThrownBy(
            () ->
                GolombCodedSet.wrap(
                    set.count(), set.universe(), set.payloadBits(), starts, set.payload()))
        .isInstanceOf(MalformedGolombCodedSetException.class)
        .hasMessageContaining(message);
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
    return GolombCodedSet.wrap(
        count, new Universe(1, 1L << valueBits), payloadBits, NOTHING, ByteBuffer.wrap(bytes));
  }

  private static ByteBuffer copy(ByteBuffer buffer) {
    return ByteBuffer.allocate(buffer.remaining()).put(buffer).flip();
  }

  private static void flip(ByteBuffer bytes, int bit) {
    bytes.put(bit / 8, (byte) (bytes.get(bit / 8) ^ 0x80 >>> bit % 8));
  }
}
