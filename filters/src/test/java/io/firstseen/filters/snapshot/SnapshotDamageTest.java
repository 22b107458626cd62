package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.key.Canonicaliser;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The offsets of docs/format/snapshot-v1.md are stated again here, to detect mistakes. */
class SnapshotDamageTest {
  private static final int HEADER_BYTES = ForgedFile.headerBytes("phishing");
  private static final int STRIPPING_HEADER_BYTES = HEADER_BYTES + 2 + 4;

  private final Snapshot snapshot = snapshot(150);
  private final byte[] good = snapshot.toBytes();

  @Test
  void refusesEveryTruncation() {
    for (int length = 0; length < good.length; length++) {
      byte[] truncated = Arrays.copyOf(good, length);
      assertThatThrownBy(() -> Snapshot.read(truncated))
          .as("%d bytes", length)
          .isInstanceOf(MalformedSnapshotException.class);
    }
  }

  @Test
  void refusesExcessBytes() {
    assertThatThrownBy(() -> Snapshot.read(Arrays.copyOf(good, good.length + 1)))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContainingAll("file", good.length + " bytes", "got " + (good.length + 1));
  }

  @Test
  void refusesEveryFlippedBit() {
    ForgedFile.assertEveryFlippedBitIsRefused(good, Snapshot::read);
  }

  /** An attacker also corrects the checksums; a file that is then accepted must be sound. */
  @Test
  void forgedBitsAreRefusedOrGiveASoundSnapshot() {
    int refused = 0;
    for (int bit = 0; bit < good.length * 8; bit++) {
      int index = bit / 8;
      byte flip = (byte) (1 << bit % 8);
      byte[] forged = forge(file -> file.put(index, (byte) (file.get(index) ^ flip)));
      if (!readsSoundly(forged)) {
        refused++;
      }
    }
    assertThat(refused).isBetween(good.length * 4, good.length * 8 - 1);
  }

  @Test
  void forgedBytesAreRefusedOrGiveASoundSnapshot() {
    SplittableRandom random = new SplittableRandom(51);
    byte[] interesting = {0, 1, 63, 64, 127, -128, -1};
    for (int i = 0; i < 20_000; i++) {
      byte[] forged =
          forge(
              file -> {
                for (int change = random.nextInt(4); change >= 0; change--) {
                  int index = random.nextInt(file.limit());
                  file.put(index, interesting[random.nextInt(interesting.length)]);
                }
              });
      readsSoundly(forged);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // offset | bytes | value | exception | sentence
        "0   | 1 | 0 | Malformed   | this is not a snapshot: the magic number is missing",
        "8   | 2 | 2 | Unsupported | has format version 2, this program reads versions up to 1",
        "8   | 2 | 65535 | Unsupported | has format version 65535,",
        "8   | 2 | 0 | Malformed | the format version must be 1, got 0",
        "12  | 4 | 4 | Unsupported | the snapshot needs features 0x04, of which this program knows 0x03",
        "12  | 4 | 1 | Malformed | the stripped parameters must end where the checksum of the",
        "12  | 4 | -2147483648 | Unsupported | needs features 0x80000000",
        "16  | 1 | 2 | Unsupported | the codec must be 1, got 2",
        "16  | 1 | 0 | Unsupported | the codec must be 1, got 0",
        "17  | 1 | 1 | Malformed | the reserved bytes must be 0",
        "18  | 1 | 0 | Unsupported | hash code must be in [1, 2], got 0",
        "18  | 1 | 3 | Unsupported | hash code must be in [1, 2], got 3",
        "19  | 1 | 4 | Unsupported | the canonicaliser must be in [0, 3], got 4",
        "20  | 2 | 0 | Malformed | canonicaliserVersion must be in [1, 65535], got 0",
        "22  | 2 | 1 | Malformed | the reserved bytes must be 0",
        "24  | 4 | 16 | Malformed | shard must be in [0, 16), got 16",
        "24  | 4 | -1 | Malformed | shard must be in [0, 16), got -1",
        "28  | 4 | 17 | Malformed | shards must be a power of two in [1, 65536], got 17",
        "28  | 4 | 0 | Malformed | shards must be a power of two in [1, 65536], got 0",
        "40  | 8 | 0 | Malformed | falsePositiveRate must be in (0, 0.1], got 0.0",
        "40  | 8 | 4602678819172646912 | Malformed | must be in (0, 0.1], got 0.5",
        "40  | 8 | 9221120237041090560 | Malformed | must be in (0, 0.1], got NaN",
        "48  | 8 | -1 | Malformed | sequence must be at least 0, got -1",
        "56  | 8 | 1700003600001 | Malformed | windowStartMillis must be at most",
        "72  | 8 | 149 | Malformed | the number of hashes must be at least the number of values (150)",
        "72  | 8 | -1 | Malformed | the number of hashes must be at most 2^63 - 1",
        "80  | 8 | 0 | Malformed | the number of hashes must be at least the number of values (0), and",
        "80  | 8 | 149 | Malformed | the Golomb parameter must be 698, got 693",
        "80  | 8 | 151 | Malformed | the number of hashes must be at least the number of values (151)",
        "80  | 8 | -1 | Malformed | the number of values must be at most 2^63 - 1",
        "88  | 8 | 692 | Malformed | the Golomb parameter must be 693, got 692",
        "96  | 8 | 5 | Malformed | the reserved bytes must be 0",
        "104 | 8 | 0 | Malformed | the payload must have 0 bytes, got ",
        "104 | 8 | -1 | Malformed | the number of payload bits must be at most 2^63 - 1",
        "112 | 8 | 0 | Malformed | the file must have ",
        "112 | 8 | -1 | Malformed | the bucket starts must have at most 2^31 - 1 bytes",
        "120 | 8 | 2147483647 | Malformed | the file must have ",
        "120 | 8 | 2147483648 | Malformed | the payload must have at most 2^31 - 1 bytes",
        "160 | 1 | 1 | Malformed | the reserved bytes must be 0",
        "184 | 8 | -1 | Malformed | the reserved bytes must be 0",
        "192 | 8 | 0 | Malformed | buckets must be in [1, 2147483648], got 0",
        "192 | 8 | -1 | Malformed | buckets must be in [1, 2147483648], got 184467440737095",
        "192 | 8 | 65537 | Malformed | a set of 150 values cannot have 65537 buckets",
        "200 | 8 | 0 | Malformed | width must be in [1, 2^62], got 0",
        "200 | 8 | 29999 | Malformed | a range of 149995 is too small for 150 values",
        "200 | 8 | 31000 | Malformed | the Golomb parameter must be 716, got 693",
        "200 | 8 | 1152921504606846976 | Malformed | there must be at most 2^60 values, got 57",
        "212 | 1 | 7 | Malformed | the set name must have 8 bytes, got 7",
        "213 | 1 | 47 | Malformed | a set name must be 1 to 100 of the characters",
      })
  void refusesForgedFields(int offset, int bytes, long value, String exception, String sentence) {
    byte[] forged =
        forge(
            file -> {
              switch (bytes) {
                case 1 -> file.put(offset, (byte) value);
                case 2 -> file.putShort(offset, (short) value);
                case 4 -> file.putInt(offset, (int) value);
                default -> file.putLong(offset, value);
              }
            });
    assertThatThrownBy(() -> Snapshot.read(forged))
        .isInstanceOf(
            exception.equals("Unsupported")
                ? UnsupportedSnapshotException.class
                : MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void refusesWrongChecksums() {
    byte[] header = good.clone();
    header[48] ^= 1;
    assertRefused("the checksum of the header does not match its 225 bytes", header);
    byte[] payload = good.clone();
    payload[good.length - 2] ^= 1;
    assertRefused("the checksum of the sections does not match their ", payload);
  }

  @Test
  void refusesAHeaderThatIsLongerThanTheFile() {
    byte[] forged = good.clone();
    ByteBuffer.wrap(forged).order(ByteOrder.LITTLE_ENDIAN).putShort(10, (short) 317);
    assertRefused("the header has 317 bytes, the file only 250", Arrays.copyOf(forged, 250));
    ByteBuffer.wrap(forged).order(ByteOrder.LITTLE_ENDIAN).putShort(10, (short) 1320);
    assertRefused("the header must have 218 to 1319 bytes, got 1320", forged);
  }

  /** Behind the set name: a length of 2 bytes, and the patterns. */
  @Test
  void stripsParametersBehindTheSetName() throws Exception {
    byte[] bytes = stripping();
    assertThat(Snapshot.read(bytes).header().parameters().set().canonicaliser())
        .isEqualTo(Canonicaliser.URL.stripping("b,a*"));
    assertThat(Arrays.copyOfRange(bytes, 213 + 8, STRIPPING_HEADER_BYTES - 4))
        .isEqualTo(new byte[] {4, 0, 'a', '*', ',', 'b'});
    ForgedFile.assertEveryFlippedBitIsRefused(bytes, Snapshot::read);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // offset | value | sentence
        "19  | 2   | only the canonicaliser url strips parameters, not text",
        "212 | 7   | the stripped parameters must end where the checksum of the header begins",
        "212 | 14  | the stripped parameters must end where the checksum of the header begins",
        "212 | 255 | the stripped parameters must end where the checksum of the header begins",
        "221 | 3   | the stripped parameters must end where the checksum of the header begins",
        "222 | 1   | the stripped parameters must end where the checksum of the header begins",
        "223 | 42  | a stripped parameter must be a name of letters, digits and",
        "223 | 99  | the stripped parameters must be sorted and distinct, got c*,b",
        "226 | 65  | the stripped parameters must be sorted and distinct, got a*,A",
        "226 | 228 | a stripped parameter must be a name of letters, digits and",
      })
  void refusesOtherStrippedParameters(int offset, int value, String sentence) {
    assertRefused(
        sentence,
        ForgedFile.of(stripping(), STRIPPING_HEADER_BYTES, file -> file.put(offset, (byte) value)));
  }

  private static byte[] stripping() {
    SnapshotParameters of = SnapshotTest.parameters(16, 5, 0.001);
    SetParameters set = of.set();
    Canonicaliser canonicaliser = Canonicaliser.URL.stripping("b,a*");
    SetParameters stripping =
        new SetParameters(
            set.hashAlgorithm(), set.keyCheck(), canonicaliser, 3, set.shards(), 0.001);
    return Snapshot.build(
            SnapshotTest.hashes(new SplittableRandom(52), 150, 16, 5),
            new SnapshotParameters(stripping, of.setName(), 5, 1, 0, 1))
        .toBytes();
  }

  @Test
  void refusesPaddingThatIsNotZero() {
    assertThat(snapshot.header().payloadBits() % 8).as("there is padding").isNotZero();
    int lastOfPayload = HEADER_BYTES + snapshot.header().payloadBytes() - 1;
    assertRefused(
        "the padding of the payload must be zero",
        forge(file -> file.put(lastOfPayload, (byte) (file.get(lastOfPayload) | 1))));
  }

  @Test
  void refusesACountThatThePayloadCannotHold() {
    long mostValues = snapshot.header().payloadBits() / 10;
    assertRefused(
        "count must be at most " + mostValues + ", since a value takes at least 10 of the payload",
        forge(file -> file.putLong(72, 250).putLong(80, 250).putLong(200, 60_000)));
  }

  @Test
  void verifyRefusesAnotherSetThanTheDigestNames() throws Exception {
    byte[] forged = forge(file -> file.put(128, (byte) (file.get(128) ^ 1)));
    Snapshot read = Snapshot.read(forged);
    assertThatThrownBy(read::verify)
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageStartingWith("the set digest must be " + snapshot.header().setDigest());
  }

  @Test
  void refusesForgedLengthsWithoutAllocating() {
    // Once beforehand, so that loading classes does not count.
    readsSoundly(forge(file -> file.putLong(72, Long.MAX_VALUE)));
    int[] lengthFields = {72, 80, 96, 104, 112, 120};
    for (int field : lengthFields) {
      for (long length : new long[] {Integer.MAX_VALUE, 1L << 32, 1L << 40, Long.MAX_VALUE}) {
        byte[] forged =
            forge(
                file -> {
                  file.putLong(72, Long.MAX_VALUE);
                  file.putLong(field, length);
                });
        ForgedFile.assertAllocatesLittle(length + " at " + field, () -> readsSoundly(forged));
      }
    }
  }

  private static Snapshot snapshot(int count) {
    return Snapshot.build(
        SnapshotTest.hashes(new SplittableRandom(52), count, 16, 5),
        SnapshotTest.parameters(16, 5, 0.001));
  }

  /** Changes a good file and mends both checksums. */
  private byte[] forge(Consumer<ByteBuffer> change) {
    return ForgedFile.of(good, HEADER_BYTES, change);
  }

  /**
   * Returns false if the file is rejected with a typed error; fails if it is accepted and not
   * sound.
   */
  private static boolean readsSoundly(byte[] bytes) {
    Snapshot read;
    try {
      read = Snapshot.read(bytes);
    } catch (MalformedSnapshotException | UnsupportedSnapshotException e) {
      return false;
    } catch (SnapshotException e) {
      throw new AssertionError("refused without a type", e);
    }
    SetParameters set = read.header().parameters().set();
    long ofShard = (long) read.header().parameters().shard() << 1 << (63 - set.shards().bits());
    read.mightContain(ofShard);
    read.mightContain(ofShard | 0x0123456789ABCDEFL >>> set.shards().bits());
    try {
      read.verify();
    } catch (MalformedSnapshotException e) {
      assertEnds(read.values());
      return false;
    }
    assertCanonical(read);
    return true;
  }

  private static void assertCanonical(Snapshot read) {
    long[] values = new long[(int) read.header().count()];
    PrimitiveIterator.OfLong iterator = read.values();
    for (int i = 0; i < values.length; i++) {
      values[i] = iterator.nextLong();
    }
    assertThat(iterator.hasNext()).isFalse();
    GolombCodedSet again = GolombCodedSet.of(values, read.header().universe());
    ByteBuffer file = read.asByteBuffer();
    int payloadBytes = read.header().payloadBytes();
    int sectionsBytes = payloadBytes + read.header().bucketStartsBytes();
    assertThat(again.payload()).isEqualTo(file.slice(file.limit() - sectionsBytes, payloadBytes));
  }

  private static void assertEnds(PrimitiveIterator.OfLong values) {
    try {
      while (values.hasNext()) {
        values.nextLong();
      }
    } catch (UncheckedIOException e) {
      assertThat(e).hasMessageNotContaining("null");
    }
  }

  private static void assertRefused(String sentence, byte[] bytes) {
    assertThatThrownBy(() -> Snapshot.read(bytes))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }
}
