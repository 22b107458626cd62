package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

class ShardSnapshotSerializerTest extends TypeSerializerContract<ShardSnapshot> {

  private static final BlobReference BASE =
      new BlobReference("ab".repeat(32), 3, 5, "cd".repeat(32), 7);
  private static final BlobReference DELTA =
      new BlobReference("ef".repeat(32), 2, 5, "cd".repeat(32), "01".repeat(32), 7);

  @Override
  protected TypeInformation<ShardSnapshot> typeInformation() {
    return TypeInformation.of(ShardSnapshot.class);
  }

  @Override
  protected List<ShardSnapshot> samples() {
    ShardSnapshot.Blob base = new ShardSnapshot.Blob(BASE, new byte[] {1, 2, 3});
    ShardSnapshot.Blob delta = new ShardSnapshot.Blob(DELTA, new byte[] {4, 5});
    ShardSnapshot both = new ShardSnapshot(15, 3_600_000, 6, base, delta);
    return List.of(
        both,
        both.withoutBytes(),
        new ShardSnapshot(15, 3_600_000, 6, base, null),
        new ShardSnapshot(15, 3_600_000, 6, null, delta),
        ShardSnapshot.unchanged(15, 3_600_000, 6));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "0000000f"
        + "000000000036ee80"
        + "0000000000000006"
        + ("02" + "40" + "6162".repeat(32))
        + ("40" + "6364".repeat(32))
        + "00"
        + "0000000000000003"
        + "0000000000000005"
        + "0000000000000007"
        + "03010203"
        + ("02" + "40" + "6566".repeat(32))
        + ("40" + "6364".repeat(32))
        + ("40" + "3031".repeat(32))
        + "0000000000000002"
        + "0000000000000005"
        + "0000000000000007"
        + "020405";
  }

  @Test
  void anUnknownFormIsRefused() {
    byte[] bytes = new byte[21];
    bytes[20] = 3;
    DataInputDeserializer in = new DataInputDeserializer(bytes);
    assertThatThrownBy(() -> ShardSnapshotSerializer.INSTANCE.deserialize(in))
        .isInstanceOf(IOException.class)
        .hasMessage("unknown form of a blob: 3");
  }

  @Test
  void aDeltaIsNoBaseAndABaseNoDelta() {
    ShardSnapshot.Blob base = new ShardSnapshot.Blob(BASE, null);
    ShardSnapshot.Blob delta = new ShardSnapshot.Blob(DELTA, null);
    assertThatThrownBy(() -> new ShardSnapshot(0, 1, 1, delta, null))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new ShardSnapshot(0, 1, 1, null, base))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
