package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.Universe;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Offsets are those of docs/format/delta-v1.md, stated again so that a slip shows. */
class SnapshotDeltaDamageTest {
  private static final int HEADER_BYTES = ForgedFile.headerBytes("phishing");
  private static final int ADDED_COUNT = 88;
  private static final int REMOVED_COUNT = 96;
  private static final int ADDED_BITS = 112;

  private final long[] hashes = SnapshotTest.hashes(new SplittableRandom(221), 170, 16, 5);
  private final Snapshot parent = snapshot(Arrays.copyOf(hashes, 150));
  private final Snapshot child = snapshot(Arrays.copyOfRange(hashes, 12, 170));
  private final SnapshotDelta delta = SnapshotDelta.between(parent, child);
  private final byte[] good = delta.toBytes();

  @Test
  void refusesEveryTruncationAndExcessBytes() {
    for (int length = 0; length <= good.length + 1; length++) {
      byte[] cut = Arrays.copyOf(good, length);
      if (length != good.length) {
        assertThatThrownBy(() -> SnapshotDelta.read(cut))
            .as("%d bytes", length)
            .isInstanceOf(MalformedSnapshotException.class);
      }
    }
  }

  @Test
  void refusesEveryFlippedBit() {
    ForgedFile.assertEveryFlippedBitIsRefused(good, SnapshotDelta::read);
  }

  /** Whoever damages on purpose mends the checksums; what is then accepted gives the child. */
  @Test
  void forgedBitsAreRefusedOrGiveTheChild() {
    int refused = 0;
    int ofPayload = 0;
    int refusedAlone = 0;
    for (int bit = 0; bit < good.length * 8; bit++) {
      int index = bit / 8;
      byte flip = (byte) (1 << bit % 8);
      byte[] forged = forge(file -> file.put(index, (byte) (file.get(index) ^ flip)));
      boolean isRefused = isRefused(forged);
      refused += isRefused ? 1 : 0;
      refusedAlone += isRefusedAlone(forged) ? 1 : 0;
      assertThat(isRefused || !isRefusedAlone(forged)).as("bit %d", bit).isTrue();
      ofPayload += isRefused && index >= HEADER_BYTES ? 1 : 0;
    }
    // What is accepted differs in sequence, window or number of hashes.
    assertThat(refused).isBetween(good.length * 4, good.length * 8 - 1);
    assertThat(refusedAlone).isBetween(good.length, refused);
    assertThat(ofPayload).isEqualTo(delta.header().payloadBytes() * 8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // offset | bytes | value | sentence
        "17  | 1 | 1 | the reserved bytes must be 0",
        "192 | 8 | 0 | buckets must be in [1, 2147483648], got 0",
        "200 | 8 | 0 | width must be in [1, 2^62], got 0",
        "200 | 8 | 2305843009213693952 | there must be at most 2^60 values, got 92233720368",
        "200 | 8 | 39499 | a range of 157996 is too small for 158 values",
        "72  | 8 | 157 | the number of hashes must be at least that of values (158)",
        "80  | 8 | 19 | the number of added values must be at most that of all (19), got 20",
        "88  | 8 | 159 | the number of added values must be at most that of all (158), got 159",
        "88  | 8 | 0 | the codes of no added values must have 0 bits, got ",
        "88  | 8 | 100 | added values, since each takes at least 17 of ",
        "88  | 8 | -1 | the number of added values must be at most 2^63 - 1",
        "96  | 8 | 0 | the codes of no removed values must have 0 bits, got ",
        "96  | 8 | 60 | removed values, since each takes at least 2 of ",
        "96  | 8 | 4611686018427387904 | removed values, since each takes at least 1 of ",
        "96  | 8 | -1 | the number of removed values must be at most 2^63 - 1",
        "104 | 8 | 0 | the payload must have 0 bytes, got ",
        "104 | 8 | -1 | the number of payload bits must be at most 2^63 - 1",
        "112 | 8 | 2000 | the codes of the added values must have at most the ",
        "112 | 8 | -1 | the number of bits of the added values must be at most 2^63 - 1",
        "120 | 8 | 2147483647 | the file must have ",
        "120 | 8 | 2147483648 | the payload must have at most 2^31 - 1 bytes",
      })
  void refusesForgedFields(int offset, int bytes, long value, String sentence) {
    byte[] forged =
        forge(
            file -> {
              if (bytes == 1) {
                file.put(offset, (byte) value);
              } else {
                file.putLong(offset, value);
              }
            });
    assertThatThrownBy(() -> SnapshotDelta.read(forged))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void refusesADeltaWithoutAParent() {
    byte[] forged = forge(file -> file.put(160, new byte[32]));
    assertThatThrownBy(() -> SnapshotDelta.read(forged))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage("a delta must have a parent digest");
  }

  @Test
  void refusesPaddingThatIsNotZero() {
    assertThat(delta.header().payloadBits() % 8).as("there is padding").isNotZero();
    byte[] forged = forge(file -> file.put(good.length - 1, (byte) (good[good.length - 1] | 1)));
    assertThatThrownBy(() -> SnapshotDelta.read(forged))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage("the padding of the payload must be zero");
  }

  @Test
  void refusesAParentOfAnotherCount() throws Exception {
    SnapshotDelta forged =
        SnapshotDelta.read(forge(file -> file.putLong(80, 157).putLong(72, 157)));
    assertThatThrownBy(() -> forged.applyTo(parent))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage("the delta changes a set of 149 values, the parent has 150");
  }

  @Test
  void refusesAnotherSetThanTheDigestNames() throws Exception {
    SnapshotDelta forged =
        SnapshotDelta.read(forge(file -> file.put(128, (byte) (file.get(128) ^ 1))));
    assertThatThrownBy(() -> forged.applyTo(parent))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageStartingWith("the delta must lead to the set ")
        .hasMessageEndingWith("it leads to " + child.header().setDigest());
  }

  @Test
  void refusesAnAddedValueThatIsInTheParent() throws Exception {
    long present = parent.values().nextLong();
    SnapshotDeltaWriter writer =
        new SnapshotDeltaWriter(
            child.header().parameters(),
            parent.header().universe(),
            150,
            parent.header().setDigest());
    writer.add(present);
    SnapshotDelta wrong = writer.finish(151, child.header().setDigest());
    assertThatThrownBy(() -> wrong.applyTo(parent))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage("an added value must not be in the parent, got " + present);
  }

  /** Numbers that would make a careless reader reserve memory, or count for ever. */
  @Test
  void refusesForgedCountsWithoutAllocating() {
    // Once beforehand, so that loading classes does not count.
    isRefused(forge(file -> file.putLong(72, Long.MAX_VALUE)));
    for (int field : new int[] {72, 80, ADDED_COUNT, REMOVED_COUNT, 104, ADDED_BITS, 120}) {
      for (long length : new long[] {Integer.MAX_VALUE, 1L << 40, 1L << 56, Long.MAX_VALUE}) {
        byte[] forged =
            forge(
                file -> {
                  file.putLong(200, 1L << 58);
                  file.putLong(72, Long.MAX_VALUE);
                  file.putLong(field, length);
                });
        ForgedFile.assertAllocatesLittle(length + " at " + field, () -> isRefused(forged));
      }
    }
  }

  private static Snapshot snapshot(long[] hashes) {
    return Snapshot.build(hashes, new Universe(4, 1 << 22), SnapshotTest.parameters(16, 5, 0.001));
  }

  /** Changes a good file and mends both checksums. */
  private byte[] forge(Consumer<ByteBuffer> change) {
    return ForgedFile.of(good, HEADER_BYTES, change);
  }

  /** Whether it is refused; fails if what is accepted makes another set than the child. */
  private boolean isRefused(byte[] bytes) {
    Snapshot made;
    try {
      made = SnapshotDelta.read(bytes).applyTo(parent);
    } catch (SnapshotException e) {
      assertThat(e.getMessage()).hasSizeLessThan(600);
      return true;
    }
    assertThat(made.header().setDigest()).isEqualTo(child.header().setDigest());
    return false;
  }

  /** Whether it is refused without a parent. */
  private static boolean isRefusedAlone(byte[] bytes) {
    try {
      SnapshotDelta.read(bytes).verify();
      return false;
    } catch (SnapshotException e) {
      return true;
    }
  }
}
