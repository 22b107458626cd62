package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.ManifestShard;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class ManifestShardSerializerTest extends TypeSerializerContract<ManifestShard> {

  private static final BlobReference BASE =
      new BlobReference("ab".repeat(32), 3, 5, "cd".repeat(32), 7);
  private static final BlobReference DELTA =
      new BlobReference("ef".repeat(32), 2, 6, "01".repeat(32), "cd".repeat(32), 8);

  @Override
  protected TypeInformation<ManifestShard> typeInformation() {
    return new SerializerTypeInformation<>(ManifestShard.class, ManifestShardSerializer.INSTANCE);
  }

  @Override
  protected List<ManifestShard> samples() {
    return List.of(new ManifestShard(15, 6, BASE, List.of(DELTA)), ManifestShard.of(3, 5, BASE));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000000f"
        + "0000000000000006"
        + ("40" + "6162".repeat(32))
        + ("40" + "6364".repeat(32))
        + "00"
        + "0000000000000003"
        + "0000000000000005"
        + "0000000000000007"
        + "00000001"
        + ("40" + "6566".repeat(32))
        + ("40" + "3031".repeat(32))
        + ("40" + "6364".repeat(32))
        + "0000000000000002"
        + "0000000000000006"
        + "0000000000000008";
  }
}
