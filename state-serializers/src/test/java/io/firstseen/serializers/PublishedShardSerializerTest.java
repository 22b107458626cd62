package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.PublishedShard;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;

class PublishedShardSerializerTest extends TypeSerializerContract<PublishedShard> {

  @Override
  protected TypeInformation<PublishedShard> typeInformation() {
    return new SerializerTypeInformation<>(PublishedShard.class, PublishedShardSerializer.INSTANCE);
  }

  @Override
  protected List<PublishedShard> samples() {
    BlobReference base = new BlobReference("ab".repeat(32), 3);
    BlobReference listed = new BlobReference("ef".repeat(32), 2);
    return List.of(
        new PublishedShard("cd".repeat(32), 6, base, 5, listed),
        new PublishedShard("cd".repeat(32), 6, base, 5, null),
        new PublishedShard("cd".repeat(32), 6, base, 5, null).withListed(base));
  }

  @Override
  protected String bytesOfFirstSample() {
    return ("40" + "6364".repeat(32))
        + "0000000000000006"
        + ("40" + "6162".repeat(32))
        + "00000000000000030000000501"
        + ("40" + "6566".repeat(32))
        + "0000000000000002";
  }
}
