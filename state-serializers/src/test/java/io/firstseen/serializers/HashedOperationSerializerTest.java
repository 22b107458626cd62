package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.types.Operation;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

class HashedOperationSerializerTest extends TypeSerializerContract<HashedOperation> {

  @Override
  protected TypeInformation<HashedOperation> typeInformation() {
    return TypeInformation.of(HashedOperation.class);
  }

  @Override
  protected List<HashedOperation> samples() {
    return List.of(
        new HashedOperation(0x0102030405060708L, Operation.DELETE),
        new HashedOperation(0x0102030405060708L, Operation.ADD),
        new HashedOperation(-1, Operation.ADD));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "01" + "0102030405060708";
  }

  @Test
  void anUnknownOperationIsRefused() {
    DataInputDeserializer in = new DataInputDeserializer(new byte[] {2, 0, 0, 0, 0, 0, 0, 0, 0});
    assertThatThrownBy(() -> HashedOperationSerializer.INSTANCE.deserialize(in))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("operation: 2");
  }
}
