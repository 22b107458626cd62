package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
import io.firstseen.filters.gcs.Universe;
import java.io.EOFException;
import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GolombCodedSetSerializerTest {

  private static final GolombCodedSetSerializer SERIALIZER = GolombCodedSetSerializer.INSTANCE;

  private static GolombCodedSet small() {
    return GolombCodedSet.of(new long[] {3, 200}, new Universe(1, 256));
  }

  private static byte[] write(GolombCodedSet set) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    SERIALIZER.serialize(set, out);
    return out.getCopyOfBuffer();
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, 0x1000000000000000",
    "1, 1, 0x1000000000000000",
    "64, 2, 0x0800000000000000",
    "65, 2, 0x0800000000000000",
    "1000, 32, 0x0080000000000000",
    "1000, 32, 0x0800000000000000",
    "1000, 29, 35001"
  })
  void whatIsWrittenIsReadAgainToTheLastByte(int count, long buckets, String width)
      throws IOException {
    Universe universe = new Universe(buckets, Long.decode(width));
    long[] values =
        new Random(count)
            .longs()
            .map(value -> Long.remainderUnsigned(value, universe.greatest()))
            .distinct()
            .limit(count)
            .boxed()
            .sorted(Long::compareUnsigned)
            .mapToLong(value -> value)
            .toArray();
    byte[] bytes = write(GolombCodedSet.of(values, universe));
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    GolombCodedSet read = SERIALIZER.deserialize(in);
    assertThat(in.available()).isZero();
    assertThat(read.toArray()).isEqualTo(values);
    assertThat(read.universe()).isEqualTo(universe);
    DataOutputSerializer copied = new DataOutputSerializer(16);
    SERIALIZER.copy(new DataInputDeserializer(bytes), copied);
    assertThat(copied.getCopyOfBuffer()).isEqualTo(bytes);
  }

  @Test
  void theBytesOfThisVersionArePinned() throws IOException {
    // One bucket of 256 values: 1 and 0x100. m = round(256 / 2 ln 2) = 89, so remainders take 6
    // bits, from 39 on one more. 3 is 0 m + 3 and 200 - 4 is 2 m + 18: the fields 000011 010010
    // and, from behind, 0 and 110. These are 16 bits; one bucket does not have a section of starts.
    assertThat(HexFormat.of().formatHex(write(small())))
        .isEqualTo("000000000000000100000000000001000000000000000002000000000000001000020d26");
  }

  @Test
  void truncatedBytesAreRefused() throws IOException {
    byte[] whole = write(small());
    for (int length = 0; length < whole.length; length++) {
      DataInputDeserializer in = new DataInputDeserializer(Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> SERIALIZER.deserialize(in)).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void bytesThatCannotBeASetAreRefused() throws IOException {
    byte[] bytes = write(small());
    // The last byte of the count.
    bytes[23] = 100;
    assertThatThrownBy(() -> SERIALIZER.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(MalformedGolombCodedSetException.class);
  }

  @Test
  void bytesThatCannotBeAUniverseAreRefused() throws IOException {
    byte[] bytes = write(small());
    // The last byte of the buckets.
    bytes[7] = 0;
    assertThatThrownBy(() -> SERIALIZER.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("buckets", "[1, 2147483648]", "got 0");
  }

  @Test
  void theSnapshotRestoresTheSerializer() throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    TypeSerializerSnapshot.writeVersionedSnapshot(out, SERIALIZER.snapshotConfiguration());
    TypeSerializerSnapshot<GolombCodedSet> read =
        TypeSerializerSnapshot.readVersionedSnapshot(
            new DataInputDeserializer(out.getCopyOfBuffer()), getClass().getClassLoader());
    assertThat(read.restoreSerializer()).isEqualTo(SERIALIZER);
    assertThat(SERIALIZER.snapshotConfiguration().resolveSchemaCompatibility(read))
        .matches(compatibility -> compatibility.isCompatibleAsIs());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void snapshotsOfTheDraftsAreRefused(int version) {
    assertThatThrownBy(
            () ->
                new GolombCodedSetSerializer.Snapshot()
                    .readSnapshot(
                        version, new DataInputDeserializer(), getClass().getClassLoader()))
        .isInstanceOf(UnsupportedStateException.class)
        .hasMessageContaining("format version " + version);
  }
}
