package io.firstseen.serializers;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.types.Operation;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class ChangeSerializerTest extends TypeSerializerContract<Change<String>> {
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
        new Change<>(Operation.ADD, new byte[70_000], Long.MIN_VALUE, "é"));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "00" + "0123456789abcdef" + "036b6579" + "066576656e74";
  }
}
