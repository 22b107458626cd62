package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.near.NearMatch;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.Test;

class ChangeSerializerTest extends TypeSerializerContract<Change<String>> {
  private static final Change<String> WITH_MATCH =
      new Change<>(Operation.ADD, "key".getBytes(UTF_8), 0x0123456789ABCDEFL, "event")
          .withMatch(new NearMatch("b6d", 64));

  @Override
  protected TypeInformation<Change<String>> typeInformation() {
    return new TypeHint<Change<String>>() {}.getTypeInfo();
  }

  @Override
  protected List<Change<String>> samples() {
    return List.of(
        new Change<>(Operation.ADD, "key".getBytes(UTF_8), 0x0123456789ABCDEFL, "event"),
        new Change<>(Operation.DELETE, "key".getBytes(UTF_8), 0x0123456789ABCDEFL, "event"),
        new Change<>(Operation.ADD, new byte[0], -1, ""),
        new Change<>(Operation.ADD, new byte[70_000], Long.MIN_VALUE, "é"),
        WITH_MATCH);
  }

  @Override
  protected String bytesOfFirstSample() {
    return "00" + "0123456789abcdef" + "036b6579" + "066576656e74";
  }

  @Test
  void version2AddsTheMatch() throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    new ChangeSerializer<>(StringSerializer.INSTANCE).serialize(WITH_MATCH, out);
    assertThat(HexFormat.of().formatHex(out.getCopyOfBuffer()))
        .isEqualTo("02" + "0123456789abcdef" + "036b6579" + "0362366440" + "066576656e74");
  }

  @Test
  void stateOfVersion1IsRead() throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(16);
    ChangeSerializer<String> serializer = new ChangeSerializer<>(StringSerializer.INSTANCE);
    TypeSerializerSnapshot.writeVersionedSnapshot(out, serializer.snapshotConfiguration());
    byte[] version1 = out.getCopyOfBuffer();
    int version = 2 + ChangeSerializer.Snapshot.class.getName().length() + 3 * Integer.BYTES - 1;
    assertThat(version1[version]).isEqualTo((byte) 2);
    version1[version] = 1;
    TypeSerializerSnapshot<Change<String>> read =
        TypeSerializerSnapshot.readVersionedSnapshot(
            new DataInputDeserializer(version1), getClass().getClassLoader());
    assertThat(
            serializer.snapshotConfiguration().resolveSchemaCompatibility(read).isCompatibleAsIs())
        .isTrue();
    byte[] bytes = HexFormat.of().parseHex(bytesOfFirstSample());
    assertThat(read.restoreSerializer().deserialize(new DataInputDeserializer(bytes)))
        .isEqualTo(samples().get(0));
  }
}
