package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link ShardSnapshot}.
 *
 * <p>Version 3: the shard in 4 bytes, window end and live count in 8 bytes each, and a byte: 0 if
 * the window changed nothing, else the form of the base (1 none, 2 only the reference, 3 reference
 * and bytes). With a change follow set digest and section, each after its length; with a base the
 * reference as {@link ByteFields} writes it, and the blob after its length. Earlier versions were
 * of other formats of snapshots and cannot be read.
 */
public final class ShardSnapshotSerializer extends ImmutableSerializer<ShardSnapshot> {

  public static final ShardSnapshotSerializer INSTANCE = new ShardSnapshotSerializer();

  private static final long serialVersionUID = 1;

  private static final int UNCHANGED = 0;
  private static final int NO_BASE = 1;
  private static final int REFERENCE = 2;
  private static final int BYTES = 3;

  @Override
  public void serialize(ShardSnapshot snapshot, DataOutputView out) throws IOException {
    out.writeInt(snapshot.shard());
    out.writeLong(snapshot.windowEndMillis());
    out.writeLong(snapshot.liveCount());
    ShardSnapshot.BaseBlob base = snapshot.base();
    int form = base == null ? NO_BASE : base.bytes() == null ? REFERENCE : BYTES;
    out.writeByte(snapshot.change() == null ? UNCHANGED : form);
    if (snapshot.change() != null) {
      ByteFields.writeString(snapshot.change().setDigest(), out);
      ByteFields.writeBytes(snapshot.change().section(), out);
    }
    if (base != null) {
      ByteFields.writeReference(base.reference(), out);
    }
    if (form == BYTES) {
      ByteFields.writeBytes(base.bytes(), out);
    }
  }

  @Override
  public ShardSnapshot deserialize(DataInputView in) throws IOException {
    int shard = in.readInt();
    long windowEndMillis = in.readLong();
    long liveCount = in.readLong();
    int form = in.readUnsignedByte();
    if (form > BYTES) {
      throw new IOException("unknown form of a shard's change: " + form);
    }
    if (form == UNCHANGED) {
      return ShardSnapshot.unchanged(shard, windowEndMillis, liveCount);
    }
    String setDigest = ByteFields.readString(in);
    byte[] section = ByteFields.readBytes(in);
    return new ShardSnapshot(
        shard,
        windowEndMillis,
        liveCount,
        new ShardSnapshot.SetChange(setDigest, section, form == NO_BASE ? null : base(in, form)));
  }

  private static ShardSnapshot.BaseBlob base(DataInputView in, int form) throws IOException {
    BlobReference reference = ByteFields.readReference(in);
    return new ShardSnapshot.BaseBlob(reference, form == BYTES ? ByteFields.readBytes(in) : null);
  }

  @Override
  public TypeSerializerSnapshot<ShardSnapshot> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ShardSnapshot> {
    public Snapshot() {
      super(3, () -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends SerializerTypeInformation.Factory<ShardSnapshot> {
    public InfoFactory() {
      super(ShardSnapshot.class, INSTANCE);
    }
  }
}
