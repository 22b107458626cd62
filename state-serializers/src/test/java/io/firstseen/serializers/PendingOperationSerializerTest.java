package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

class PendingOperationSerializerTest extends TypeSerializerContract<Long> {

  @Override
  protected TypeInformation<Long> typeInformation() {
    return new SerializerTypeInformation<>(Long.class, PendingOperationSerializer.INSTANCE);
  }

  @Override
  protected List<Long> samples() {
    return List.of(
        1_800_000_000_000L, PendingOperationSerializer.DELETED, 0L, 126L, 127L, Long.MAX_VALUE);
  }

  @Override
  protected String bytesOfFirstSample() {
    return "81a0f1c2b134";
  }

  @Test
  void aNumberWithoutEndIsRefused() {
    DataInputDeserializer endless =
        new DataInputDeserializer(
            "\u00ff".repeat(20).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1));
    assertThatThrownBy(() -> PendingOperationSerializer.INSTANCE.deserialize(endless))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not fit into 64 bits");
  }

  @Test
  void aNumberOf65BitsIsRefused() {
    byte[] bytes = HexFormat.of().parseHex("ffffffffffffffffff03");
    assertThatThrownBy(
            () -> PendingOperationSerializer.INSTANCE.deserialize(new DataInputDeserializer(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("does not fit into 64 bits");
  }
}
