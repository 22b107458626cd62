package io.firstseen.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link SnapshotRecord}.
 *
 * <p>Version 2: the kind in a byte (1 blob, 2 manifest, 3 removal, 4 blobs in use), then key and
 * value, each after its length. Version 1 was of other formats of snapshots and cannot be read.
 */
public final class SnapshotRecordSerializer extends ImmutableSerializer<SnapshotRecord> {

  public static final SnapshotRecordSerializer INSTANCE = new SnapshotRecordSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(SnapshotRecord record, DataOutputView out) throws IOException {
    out.writeByte(
        switch (record.kind()) {
          case BLOB -> 1;
          case MANIFEST -> 2;
          case REMOVAL -> 3;
          case IN_USE -> 4;
        });
    ByteFields.writeString(record.key(), out);
    ByteFields.writeBytes(record.value(), out);
  }

  @Override
  public SnapshotRecord deserialize(DataInputView in) throws IOException {
    int code = in.readUnsignedByte();
    SnapshotRecord.Kind kind =
        switch (code) {
          case 1 -> SnapshotRecord.Kind.BLOB;
          case 2 -> SnapshotRecord.Kind.MANIFEST;
          case 3 -> SnapshotRecord.Kind.REMOVAL;
          case 4 -> SnapshotRecord.Kind.IN_USE;
          default -> throw new IOException("unknown kind of snapshot record: " + code);
        };
    String key = ByteFields.readString(in);
    return new SnapshotRecord(kind, key, ByteFields.readBytes(in));
  }

  @Override
  public TypeSerializerSnapshot<SnapshotRecord> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<SnapshotRecord> {
    public Snapshot() {
      super(2, () -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends SerializerTypeInformation.Factory<SnapshotRecord> {
    public InfoFactory() {
      super(SnapshotRecord.class, INSTANCE);
    }
  }
}
