package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.types.ShardSnapshot;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

class ShardSnapshotSerializerTest extends TypeSerializerContract<ShardSnapshot> {

  private static final BlobReference BASE =
      new BlobReference("ab".repeat(32), 3, 5, "cd".repeat(32), 7);

  @Override
  protected TypeInformation<ShardSnapshot> typeInformation() {
    return TypeInformation.of(ShardSnapshot.class);
  }

  @Override
  protected List<ShardSnapshot> samples() {
    ShardSnapshot changed = new ShardSnapshot(15, 3_600_000, 6, BASE, new byte[] {1, 2, 3});
    return List.of(changed, changed.withoutBlob(), ShardSnapshot.unchanged(15, 3_600_000, 6));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "02"
        + "0000000f"
        + "000000000036ee80"
        + "0000000000000006"
        + ("40" + "6162".repeat(32))
        + ("40" + "6364".repeat(32))
        + "0000000000000003"
        + "0000000000000005"
        + "0000000000000007"
        + "03010203";
  }

  @Test
  void anUnknownFormIsRefused() {
    DataInputDeserializer in = new DataInputDeserializer(new byte[] {3});
    assertThatThrownBy(() -> ShardSnapshotSerializer.INSTANCE.deserialize(in))
        .isInstanceOf(IOException.class)
        .hasMessage("unknown form of a shard's snapshot: 3");
  }

  @Test
  void aBlobWithoutReferenceIsRefused() {
    assertThatThrownBy(() -> new ShardSnapshot(0, 1, 1, null, new byte[1]))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
