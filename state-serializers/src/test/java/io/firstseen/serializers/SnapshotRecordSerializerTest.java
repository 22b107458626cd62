package io.firstseen.serializers;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
        SnapshotRecord.removal("ab".repeat(32), 70_000));
  }

  @Override
  protected String bytesOfFirstSample() {
    return "02" + "047370616d" + "03010203";
  }

  @Test
  void anUnknownKindIsRefused() {
    DataInputDeserializer in = new DataInputDeserializer(new byte[] {4, 0, 0});
    assertThatThrownBy(() -> SnapshotRecordSerializer.INSTANCE.deserialize(in))
        .isInstanceOf(IOException.class)
        .hasMessage("unknown kind of snapshot record: 4");
  }
}
