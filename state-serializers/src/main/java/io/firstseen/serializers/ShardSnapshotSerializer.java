package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.types.ShardSnapshot;
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
 * <p>Version 1: a byte (0 unchanged, 1 reference alone, 2 reference and blob), the shard in 4
 * bytes, window end and live count in 8 each; then of the reference the digest and the set digest,
 * each after its length, and bytes, count and sequence in 8 each; then the blob after its length.
 */
public final class ShardSnapshotSerializer extends ImmutableSerializer<ShardSnapshot> {

  public static final ShardSnapshotSerializer INSTANCE = new ShardSnapshotSerializer();

  private static final long serialVersionUID = 1;

  private static final int UNCHANGED = 0;
  private static final int REFERENCE = 1;
  private static final int BLOB = 2;

  @Override
  public void serialize(ShardSnapshot snapshot, DataOutputView out) throws IOException {
    BlobReference base = snapshot.base();
    out.writeByte(base == null ? UNCHANGED : snapshot.blob() == null ? REFERENCE : BLOB);
    out.writeInt(snapshot.shard());
    out.writeLong(snapshot.windowEndMillis());
    out.writeLong(snapshot.liveCount());
    if (base != null) {
      ByteFields.writeString(base.digest(), out);
      ByteFields.writeString(base.setDigest(), out);
      out.writeLong(base.bytes());
      out.writeLong(base.count());
      out.writeLong(base.sequence());
    }
    if (snapshot.blob() != null) {
      ByteFields.writeBytes(snapshot.blob(), out);
    }
  }

  @Override
  public ShardSnapshot deserialize(DataInputView in) throws IOException {
    int form = in.readUnsignedByte();
    if (form > BLOB) {
      throw new IOException("unknown form of a shard's snapshot: " + form);
    }
    int shard = in.readInt();
    long windowEndMillis = in.readLong();
    long liveCount = in.readLong();
    BlobReference base = form == UNCHANGED ? null : readReference(in);
    byte[] blob = form == BLOB ? ByteFields.readBytes(in) : null;
    return new ShardSnapshot(shard, windowEndMillis, liveCount, base, blob);
  }

  private static BlobReference readReference(DataInputView in) throws IOException {
    String digest = ByteFields.readString(in);
    String setDigest = ByteFields.readString(in);
    long bytes = in.readLong();
    long count = in.readLong();
    return new BlobReference(digest, bytes, count, setDigest, in.readLong());
  }

  @Override
  public TypeSerializerSnapshot<ShardSnapshot> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ShardSnapshot> {
    public Snapshot() {
      super(1, () -> INSTANCE);
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
