package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.ShardChain;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

class ShardChainSerializerTest extends TypeSerializerContract<ShardChain> {

  @Override
  protected TypeInformation<ShardChain> typeInformation() {
    return new SerializerTypeInformation<>(ShardChain.class, ShardChainSerializer.INSTANCE);
  }

  @Override
  protected List<ShardChain> samples() {
    return List.of(
        new ShardChain(new Universe(2, 35_000), 6, 5, 6, 700, 3_600_000, 90),
        new ShardChain(new Universe(1L << 31, 1L << 33), 0, 0, 0, 1, Long.MAX_VALUE, 0));
  }

  @Override
  protected String bytesOfFirstSample() {
    // 2 buckets of 35,000 = 0x88b8 values, and 6 bits of headroom.
    return "000000000000000200000000000088b8060000000000000005000000000000000600000000000002bc000000000036ee80000000000000005a";
  }

  @Test
  void aSnapshotOfTheDraftIsRefused() {
    assertThatThrownBy(
            () ->
                new ShardChainSerializer.Snapshot()
                    .readSnapshot(2, new DataInputDeserializer(), getClass().getClassLoader()))
        .isInstanceOf(UnsupportedStateException.class)
        .hasMessageContaining("format version 2");
  }
}
