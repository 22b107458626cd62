package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

class ShardSnapshotSerializerTest extends TypeSerializerContract<ShardSnapshot> {

  @Override
  protected TypeInformation<ShardSnapshot> typeInformation() {
    return TypeInformation.of(ShardSnapshot.class);
  }

  @Override
  protected List<ShardSnapshot> samples() {
    ShardSnapshot.BaseBlob base =
        new ShardSnapshot.BaseBlob(new BlobReference("ab".repeat(32), 3), new byte[] {1, 2, 3});
    ShardSnapshot both = snapshot(base);
    return List.of(
        both, both.withoutBaseBytes(), snapshot(null), ShardSnapshot.unchanged(15, 3_600_000, 6));
  }

  private static ShardSnapshot snapshot(ShardSnapshot.BaseBlob base) {
    return new ShardSnapshot(
        15, 3_600_000, 6, new ShardSnapshot.SetChange("cd".repeat(32), new byte[] {4, 5}, base));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000000f000000000036ee80000000000000000603"
        + ("40" + "6364".repeat(32))
        + "020405"
        + ("40" + "6162".repeat(32))
        + "0000000000000003"
        + "03010203";
  }

  @Test
  void anUnknownFormIsRefused() {
    byte[] bytes = new byte[21];
    bytes[20] = 4;
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    assertThatThrownBy(() -> ShardSnapshotSerializer.INSTANCE.deserialize(in))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("form of a shard's change: 4");
  }
}
