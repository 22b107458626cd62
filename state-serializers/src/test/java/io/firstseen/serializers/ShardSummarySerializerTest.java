package io.firstseen.serializers;

import io.firstseen.types.ShardSummary;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class ShardSummarySerializerTest extends TypeSerializerContract<ShardSummary> {

  @Override
  protected TypeInformation<ShardSummary> typeInformation() {
    return new SerializerTypeInformation<>(ShardSummary.class, ShardSummarySerializer.INSTANCE);
  }

  @Override
  protected List<ShardSummary> samples() {
    return List.of(
        new ShardSummary(3, 2048, 7168, new byte[] {1, 1}),
        new ShardSummary(0, 0, 0, new byte[1]),
        new ShardSummary(1L << 40, 1L << 41, Long.MAX_VALUE, new byte[] {2, 2, 1, 1}));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000000000000003" + "0000000000000800" + "0000000000001c00" + "020101";
  }
}
