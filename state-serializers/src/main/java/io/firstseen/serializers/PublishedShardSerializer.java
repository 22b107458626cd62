package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.PublishedShard;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link PublishedShard}.
 *
 * <p>Version 1: the set digest after its length, the live count in 8 bytes, the base, the number of
 * sections in 4 bytes, 1 if the list of bases names a base and else 0, and that base. {@link
 * ByteFields} writes the references.
 */
public final class PublishedShardSerializer extends ImmutableSerializer<PublishedShard> {

  public static final PublishedShardSerializer INSTANCE = new PublishedShardSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(PublishedShard shard, DataOutputView out) throws IOException {
    ByteFields.writeString(shard.setDigest(), out);
    out.writeLong(shard.liveCount());
    ByteFields.writeReference(shard.base(), out);
    out.writeInt(shard.sections());
    out.writeBoolean(shard.listedBase() != null);
    if (shard.listedBase() != null) {
      ByteFields.writeReference(shard.listedBase(), out);
    }
  }

  @Override
  public PublishedShard deserialize(DataInputView in) throws IOException {
    String setDigest = ByteFields.readString(in);
    long liveCount = in.readLong();
    BlobReference base = ByteFields.readReference(in);
    int sections = in.readInt();
    return new PublishedShard(
        setDigest,
        liveCount,
        base,
        sections,
        in.readBoolean() ? ByteFields.readReference(in) : null);
  }

  @Override
  public TypeSerializerSnapshot<PublishedShard> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<PublishedShard> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
