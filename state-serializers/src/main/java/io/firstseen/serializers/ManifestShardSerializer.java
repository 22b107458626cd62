package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.ManifestShard;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link ManifestShard} that has a base.
 *
 * <p>Version 1: the shard in 4 bytes, the count in 8, the base, the number of deltas in 4, and the
 * deltas. References are written as {@link BlobReferenceFields} says.
 */
public final class ManifestShardSerializer extends ImmutableSerializer<ManifestShard> {

  public static final ManifestShardSerializer INSTANCE = new ManifestShardSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(ManifestShard shard, DataOutputView out) throws IOException {
    out.writeInt(shard.shard());
    out.writeLong(shard.count());
    BlobReferenceFields.write(shard.base(), out);
    out.writeInt(shard.deltas().size());
    for (BlobReference delta : shard.deltas()) {
      BlobReferenceFields.write(delta, out);
    }
  }

  @Override
  public ManifestShard deserialize(DataInputView in) throws IOException {
    int shard = in.readInt();
    long count = in.readLong();
    BlobReference base = BlobReferenceFields.read(in);
    int deltaCount = in.readInt();
    List<BlobReference> deltas = new ArrayList<>();
    for (int i = 0; i < deltaCount; i++) {
      deltas.add(BlobReferenceFields.read(in));
    }
    return new ManifestShard(shard, count, base, deltas);
  }

  @Override
  public TypeSerializerSnapshot<ManifestShard> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ManifestShard> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
