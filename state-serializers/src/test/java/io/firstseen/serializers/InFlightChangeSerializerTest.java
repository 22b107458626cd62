package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.HexFormat;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

class InFlightChangeSerializerTest {
  private static final long HASH = 0x0123456789ABCDEFL;
  private static final String HASH_BYTES = "0123456789abcdef";

  /** Events that are their own key. */
  private static TypeSerializer<Change<byte[]>> ofKeys() {
    return InFlightChangeSerializer.info(
            PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO, event -> event)
        .createSerializer(new SerializerConfigImpl());
  }

  /** Events that create a new key array at each call. */
  private static TypeSerializer<Change<String>> ofTexts() {
    return InFlightChangeSerializer.info(Types.STRING, event -> event.getBytes(UTF_8))
        .createSerializer(new SerializerConfigImpl());
  }

  private static <T> byte[] write(TypeSerializer<T> serializer, T value) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    serializer.serialize(value, out);
    return out.getCopyOfBuffer();
  }

  private static <T> T read(TypeSerializer<T> serializer, byte[] bytes) throws IOException {
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    T value = serializer.deserialize(in);
    assertThat(in.available()).isZero();
    return value;
  }

  @Test
  void aKeyThatTheEventHoldsIsWrittenOnce() throws IOException {
    byte[] key = "key".getBytes(UTF_8);
    Change<byte[]> change = new Change<>(Operation.DELETE, key, HASH, key);

    byte[] bytes = write(ofKeys(), change);

    assertThat(HexFormat.of().formatHex(bytes))
        .isEqualTo("03" + HASH_BYTES + "00000003" + "6b6579");
    Change<byte[]> back = read(ofKeys(), bytes);
    assertThat(back.operation()).isEqualTo(Operation.DELETE);
    assertThat(back.hash()).isEqualTo(HASH);
    assertThat(back.key()).isEqualTo(key);
    assertThat(back.event()).isEqualTo(key);
  }

  @Test
  void aKeyThatDiffersFromTheEventsIsWritten() throws IOException {
    TypeSerializer<Change<byte[]>> serializer = ofKeys();
    byte[] raw = "KEY".getBytes(UTF_8);
    write(serializer, new Change<>(Operation.ADD, raw, HASH, raw));

    byte[] bytes = write(serializer, new Change<>(Operation.ADD, "key".getBytes(UTF_8), HASH, raw));

    assertThat(HexFormat.of().formatHex(bytes))
        .isEqualTo("00" + HASH_BYTES + "03" + "6b6579" + "00000003" + "4b4559");
    assertThat(read(serializer, bytes).key()).isEqualTo("key".getBytes(UTF_8));
  }

  @Test
  void aKeyMadeAnewAtEachCallIsWritten() throws IOException {
    Change<String> change = new Change<>(Operation.ADD, "key".getBytes(UTF_8), HASH, "key");

    byte[] bytes = write(ofTexts(), change);

    assertThat(HexFormat.of().formatHex(bytes))
        .isEqualTo("00" + HASH_BYTES + "03" + "6b6579" + "04" + "6b6579");
    assertThat(read(ofTexts(), bytes)).isEqualTo(change);
  }

  @Test
  void itTravelsAndCopies() throws Exception {
    TypeSerializer<Change<byte[]>> serializer = ofKeys();
    TypeSerializer<Change<byte[]>> travelled =
        InstantiationUtil.deserializeObject(
            InstantiationUtil.serializeObject(serializer.duplicate()), getClass().getClassLoader());
    byte[] key = {1, 2};
    byte[] bytes = write(serializer, new Change<>(Operation.ADD, key, HASH, key));

    assertThat(travelled).isEqualTo(serializer);
    DataOutputSerializer copied = new DataOutputSerializer(16);
    travelled.copy(new DataInputDeserializer(bytes), copied);
    assertThat(copied.getCopyOfBuffer()).isEqualTo(bytes);
    Change<byte[]> copy = travelled.copy(read(travelled, bytes));
    assertThat(copy.key()).isEqualTo(key);
    assertThat(copy.event()).isEqualTo(key);
  }

  @Test
  void unknownBytesAreRefused() {
    assertThatThrownBy(() -> read(ofKeys(), new byte[] {8}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("operation: 8");
  }

  @Test
  void bandsAreWritten() throws IOException {
    byte[] key = {1, 2};
    Change<byte[]> change = new Change<>(Operation.DELETE, key, HASH, new long[] {3, -4}, key);
    Change<byte[]> copy = read(ofKeys(), write(ofKeys(), change));
    assertThat(copy.operation()).isEqualTo(Operation.DELETE);
    assertThat(copy.hash()).isEqualTo(HASH);
    assertThat(copy.bands()).containsExactly(3, -4);
    assertThat(copy.key()).isEqualTo(key);
    assertThat(ofKeys().copy(change).bands()).containsExactly(3, -4);
  }

  @Test
  void itIsNotForState() {
    assertThatThrownBy(() -> ofKeys().snapshotConfiguration())
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
