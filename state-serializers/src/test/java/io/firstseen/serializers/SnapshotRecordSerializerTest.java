package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.junit.jupiter.api.Test;

class SnapshotRecordSerializerTest extends TypeSerializerContract<SnapshotRecord> {

  @Override
  protected TypeInformation<SnapshotRecord> typeInformation() {
    return TypeInformation.of(SnapshotRecord.class);
  }

  @Override
  protected List<SnapshotRecord> samples() {
    return List.of(
        new SnapshotRecord(SnapshotRecord.Kind.MANIFEST, "spam", new byte[] {1, 2, 3}),
        new SnapshotRecord(SnapshotRecord.Kind.BLOB, "spam", new byte[] {1, 2, 3}),
        new SnapshotRecord(SnapshotRecord.Kind.BLOB, "ab".repeat(32), new byte[70_000]),
        SnapshotRecord.removal(
            new BlobReference("ab".repeat(32), 70_000), BlobFrame.Kind.BASE_LIST),
        SnapshotRecord.inUse("spam", List.of("ab".repeat(32), "cd".repeat(32))));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "02" + "047370616d" + "03010203";
  }

  @Test
  void aRemovalSaysWhatIsRemovedAndTheBlobsInUseWhichTheyAre() {
    SnapshotRecord removal = samples().get(3);
    assertThat(removal.key()).isEqualTo("ab".repeat(32));
    assertThat(removal.removedBytes()).isEqualTo(70_000);
    assertThat(removal.removedKind()).isEqualTo(BlobFrame.Kind.BASE_LIST);
    assertThat(samples().get(4).digestsInUse()).containsExactly("ab".repeat(32), "cd".repeat(32));
  }

  @Test
  void anUnknownKindIsRefused() {
    DataInputDeserializer in = new DataInputDeserializer(new byte[] {5, 0, 0});
    assertThatThrownBy(() -> SnapshotRecordSerializer.INSTANCE.deserialize(in))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("kind of snapshot record: 5");
  }
}
