package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.PackChain;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class PackChainSerializerTest extends TypeSerializerContract<PackChain> {

  @Override
  protected TypeInformation<PackChain> typeInformation() {
    return new SerializerTypeInformation<>(PackChain.class, PackChainSerializer.INSTANCE);
  }

  @Override
  protected List<PackChain> samples() {
    BlobReference older = new BlobReference("ab".repeat(32), 3);
    BlobReference newer = new BlobReference("cd".repeat(32), 2);
    BlobReference list = new BlobReference("ef".repeat(32), 7);
    return List.of(
        new PackChain(List.of(older, newer), 9, list, 700, 3_600_000, 2),
        new PackChain(List.of(newer), 2, list, 7, Long.MAX_VALUE, 0));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "00000002"
        + ("40" + "6162".repeat(32))
        + "0000000000000003"
        + ("40" + "6364".repeat(32))
        + "0000000000000002"
        + "0000000000000009"
        + ("40" + "6566".repeat(32))
        + "000000000000000700000000000002bc000000000036ee800000000000000002";
  }
}
