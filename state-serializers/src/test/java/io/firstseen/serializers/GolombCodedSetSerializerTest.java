package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.MalformedGolombCodedSetException;
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

class GolombCodedSetSerializerTest {

  private static final GolombCodedSetSerializer SERIALIZER = GolombCodedSetSerializer.INSTANCE;

  private static byte[] write(GolombCodedSet set) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    SERIALIZER.serialize(set, out);
    return out.getCopyOfBuffer();
  }

  @ParameterizedTest
  @CsvSource({"0,60", "1,60", "64,60", "65,60", "1000,60", "1000,64", "1000,48"})
  void whatIsWrittenIsReadAgainToTheLastByte(int count, int valueBits) throws IOException {
    long[] values =
        new Random(count)
            .longs()
            .map(value -> value >>> (64 - valueBits))
            .limit(count)
            .boxed()
            .sorted(Long::compareUnsigned)
            .mapToLong(value -> value)
            .toArray();
    byte[] bytes = write(GolombCodedSet.of(values, valueBits));
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    GolombCodedSet read = SERIALIZER.deserialize(in);
    assertThat(in.available()).isZero();
    assertThat(read.toArray()).isEqualTo(values);
    assertThat(read.valueBits()).isEqualTo(valueBits);
    DataOutputSerializer copied = new DataOutputSerializer(16);
    SERIALIZER.copy(new DataInputDeserializer(bytes), copied);
    assertThat(copied.getCopyOfBuffer()).isEqualTo(bytes);
  }

  @Test
  void theBytesOfThisVersionArePinned() throws IOException {
    // m = round(2^8 / 2 ln 2) = 89, so remainders take 6 bits, from 39 on one more. 3 is 0 m + 3
    // and
    // 200 - 4 is 2 m + 18: the fields 000011 010010 and, from behind, 0 and 110.
    assertThat(HexFormat.of().formatHex(write(GolombCodedSet.of(new long[] {3, 200}, 8))))
        .isEqualTo("08" + "0000000000000002" + "0000000000000010" + "00" + "020d26");
  }

  @Test
  void truncatedBytesAreRefused() throws IOException {
    byte[] whole = write(GolombCodedSet.of(new long[] {3, 200}, 8));
    for (int length = 0; length < whole.length; length++) {
      DataInputDeserializer in = new DataInputDeserializer(Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> SERIALIZER.deserialize(in)).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void bytesThatCannotBeASetAreRefused() throws IOException {
    byte[] bytes = write(GolombCodedSet.of(new long[] {3, 200}, 8));
    bytes[8] = 100;
    assertThatThrownBy(() -> SERIALIZER.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(MalformedGolombCodedSetException.class);
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
}
