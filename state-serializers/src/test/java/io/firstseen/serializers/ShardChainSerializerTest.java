package io.firstseen.serializers;

import io.firstseen.types.ShardChain;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class ShardChainSerializerTest extends TypeSerializerContract<ShardChain> {

  @Override
  protected TypeInformation<ShardChain> typeInformation() {
    return new SerializerTypeInformation<>(ShardChain.class, ShardChainSerializer.INSTANCE);
  }

  @Override
  protected List<ShardChain> samples() {
    return List.of(
        new ShardChain(30, 5, "ab".repeat(32), 6, 700, 3_600_000, 2, 90),
        new ShardChain(64, 0, "cd".repeat(32), 0, 1, Long.MAX_VALUE, 0, 0));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "1e"
        + "0000000000000005"
        + ("40" + "6162".repeat(32))
        + "0000000000000006"
        + "00000000000002bc"
        + "000000000036ee80"
        + "00000002"
        + "000000000000005a";
  }
}
