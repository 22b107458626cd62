package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.CompositeTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

/** The contract of every serializer in this module. */
abstract class TypeSerializerContract<T> {
  private static final long MAX_BYTES = 256 << 10;

  /** The type as Flink finds it. */
  protected abstract TypeInformation<T> typeInformation();

  /** Values that differ from each other and reach every branch of the format. */
  protected abstract List<T> samples();

  /** The bytes of the first sample in hexadecimal; they change only with a new version. */
  protected abstract String bytesOfFirstSample();

  private TypeSerializer<T> serializer() {
    return typeInformation().createSerializer(new SerializerConfigImpl());
  }

  private byte[] write(T value) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    serializer().serialize(value, out);
    return out.getCopyOfBuffer();
  }

  @Test
  void flinkFindsTheSerializerWithoutHelp() {
    assertThat(typeInformation()).isNotInstanceOf(GenericTypeInfo.class);
    assertThat(typeInformation()).isEqualTo(typeInformation());
    assertThat(samples().get(0)).isInstanceOf(typeInformation().getTypeClass());
  }

  @Test
  void whatIsWrittenIsReadAgainToTheLastByte() throws IOException {
    for (T sample : samples()) {
      DataInputDeserializer in = new DataInputDeserializer(write(sample));
      assertThat(serializer().deserialize(in)).isEqualTo(sample);
      assertThat(in.available()).isZero();
    }
  }

  @Test
  void recordsInARowAreReadAndCopiedInARow() throws IOException {
    DataOutputSerializer written = new DataOutputSerializer(16);
    for (T sample : samples()) {
      serializer().serialize(sample, written);
    }
    DataOutputSerializer copied = new DataOutputSerializer(16);
    DataInputDeserializer in = new DataInputDeserializer(written.getCopyOfBuffer());
    for (int i = 0; i < samples().size(); i++) {
      serializer().copy(in, copied);
    }
    assertThat(copied.getCopyOfBuffer()).isEqualTo(written.getCopyOfBuffer());
    List<T> read = new ArrayList<>();
    in.setBuffer(copied.getCopyOfBuffer());
    for (int i = 0; i < samples().size(); i++) {
      read.add(serializer().deserialize(null, in));
    }
    assertThat(read).isEqualTo(samples());
  }

  @Test
  void copiesAreEqual() {
    for (T sample : samples()) {
      assertThat(serializer().copy(sample)).isEqualTo(sample);
      assertThat(serializer().copy(sample, null)).isEqualTo(sample);
    }
  }

  @Test
  void theBytesOfThisVersionArePinned() throws IOException {
    assertThat(HexFormat.of().formatHex(write(samples().get(0)))).isEqualTo(bytesOfFirstSample());
  }

  @Test
  void truncatedBytesAreRefused() throws IOException {
    byte[] whole = write(samples().get(0));
    for (int length = 0; length < whole.length; length++) {
      DataInputDeserializer in = new DataInputDeserializer(Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> serializer().deserialize(in)).isInstanceOf(EOFException.class);
    }
  }

  /** Anyone who can write to a savepoint can write any bytes. */
  @Test
  void otherBytesAreRefusedOrReadWithLittleMemory() throws IOException {
    if (serializer() instanceof WrappingSerializer) {
      // Flink's serializer of the events takes a length on trust.
      return;
    }
    byte[] whole = write(samples().get(0));
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int at = 0; at < whole.length; at++) {
      for (int other : new int[] {0, 1, 0x7F, 0x80, 0xFF}) {
        byte[] bytes = whole.clone();
        Arrays.fill(bytes, at, Math.min(whole.length, at + 4), (byte) other);
        readsOrRefuses(bytes);
        long before = threads.getCurrentThreadAllocatedBytes();
        readsOrRefuses(bytes);
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(MAX_BYTES);
      }
    }
  }

  private void readsOrRefuses(byte[] bytes) {
    try {
      serializer().deserialize(new DataInputDeserializer(bytes));
    } catch (IOException e) {
      // Refused.
    }
  }

  @Test
  void theSerializerTravels() throws Exception {
    TypeSerializer<T> travelled =
        InstantiationUtil.deserializeObject(
            InstantiationUtil.serializeObject(serializer()), getClass().getClassLoader());
    assertThat(travelled).isEqualTo(serializer());
    assertThat(serializer().duplicate()).isEqualTo(serializer());
  }

  @Test
  void theSnapshotRestoresTheSerializer() throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    TypeSerializerSnapshot.writeVersionedSnapshot(out, serializer().snapshotConfiguration());
    TypeSerializerSnapshot<T> read =
        TypeSerializerSnapshot.readVersionedSnapshot(
            new DataInputDeserializer(out.getCopyOfBuffer()), getClass().getClassLoader());
    assertThat(read.restoreSerializer()).isEqualTo(serializer());
    TypeSerializerSchemaCompatibility<T> compatibility =
        serializer().snapshotConfiguration().resolveSchemaCompatibility(read);
    assertThat(compatibility.isCompatibleAsIs()).isTrue();
  }

  @Test
  void aSnapshotOfANewerVersionIsRefused() throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    TypeSerializerSnapshot<T> snapshot = serializer().snapshotConfiguration();
    TypeSerializerSnapshot.writeVersionedSnapshot(out, snapshot);
    byte[] bytes = out.getCopyOfBuffer();
    // A string after its length, then the version; serializers that hold others put Flink's own
    // version and a magic number there, and their own version behind them.
    int lastOfVersion = 2 + ((bytes[0] & 0xFF) << 8 | (bytes[1] & 0xFF)) + Integer.BYTES - 1;
    if (snapshot instanceof CompositeTypeSerializerSnapshot) {
      lastOfVersion += 2 * Integer.BYTES;
    }
    int newer = ++bytes[lastOfVersion];
    assertThat(newer).isBetween(2, 9);
    assertThatThrownBy(
            () ->
                TypeSerializerSnapshot.readVersionedSnapshot(
                    new DataInputDeserializer(bytes), getClass().getClassLoader()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("format version " + newer);
  }
}
