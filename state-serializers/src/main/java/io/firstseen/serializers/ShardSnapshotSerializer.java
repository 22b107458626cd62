package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link ShardSnapshot}.
 *
 * <p>Version 2: the shard in 4 bytes, window end and live count in 8 bytes each; then base and
 * delta. Each of these is a byte (0 none, 1 only the reference, 2 reference and bytes), the
 * reference as {@link BlobReferenceFields} writes it, and the blob after its length. Version 1 had
 * no deltas and cannot be read.
 */
public final class ShardSnapshotSerializer extends ImmutableSerializer<ShardSnapshot> {

  public static final ShardSnapshotSerializer INSTANCE = new ShardSnapshotSerializer();

  private static final long serialVersionUID = 1;

  private static final int NONE = 0;
  private static final int REFERENCE = 1;
  private static final int BYTES = 2;

  @Override
  public void serialize(ShardSnapshot snapshot, DataOutputView out) throws IOException {
    out.writeInt(snapshot.shard());
    out.writeLong(snapshot.windowEndMillis());
    out.writeLong(snapshot.liveCount());
    write(snapshot.base(), out);
    write(snapshot.delta(), out);
  }

  private static void write(ShardSnapshot.Blob blob, DataOutputView out) throws IOException {
    if (blob == null) {
      out.writeByte(NONE);
      return;
    }
    out.writeByte(blob.bytes() == null ? REFERENCE : BYTES);
    BlobReferenceFields.write(blob.reference(), out);
    if (blob.bytes() != null) {
      ByteFields.writeBytes(blob.bytes(), out);
    }
  }

  @Override
  public ShardSnapshot deserialize(DataInputView in) throws IOException {
    int shard = in.readInt();
    long windowEndMillis = in.readLong();
    long liveCount = in.readLong();
    ShardSnapshot.Blob base = read(in);
    return new ShardSnapshot(shard, windowEndMillis, liveCount, base, read(in));
  }

  private static ShardSnapshot.Blob read(DataInputView in) throws IOException {
    int form = in.readUnsignedByte();
    if (form > BYTES) {
      throw new IOException("unknown form of a blob: " + form);
    }
    if (form == NONE) {
      return null;
    }
    BlobReference reference = BlobReferenceFields.read(in);
    return new ShardSnapshot.Blob(reference, form == BYTES ? ByteFields.readBytes(in) : null);
  }

  @Override
  public TypeSerializerSnapshot<ShardSnapshot> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ShardSnapshot> {
    public Snapshot() {
      super(2, () -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends TypeInfoFactory<ShardSnapshot> {
    @Override
    public TypeInformation<ShardSnapshot> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return new SerializerTypeInformation<>(ShardSnapshot.class, INSTANCE);
    }
  }
}
