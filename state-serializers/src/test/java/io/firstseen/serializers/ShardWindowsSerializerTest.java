package io.firstseen.serializers;

import io.firstseen.types.ShardWindows;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class ShardWindowsSerializerTest extends TypeSerializerContract<ShardWindows> {

  @Override
  protected TypeInformation<ShardWindows> typeInformation() {
    return new SerializerTypeInformation<>(ShardWindows.class, ShardWindowsSerializer.INSTANCE);
  }

  @Override
  protected List<ShardWindows> samples() {
    return List.of(
        new ShardWindows(10, 3, new long[] {20, 30}),
        ShardWindows.NONE,
        ShardWindows.NONE.opened(5),
        new ShardWindows(Long.MAX_VALUE, Long.MAX_VALUE, new long[300]));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "000000000000000a0000000000000003000000020000000000000014000000000000001e";
  }
}
