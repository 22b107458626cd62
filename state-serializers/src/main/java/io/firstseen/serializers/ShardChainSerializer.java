package io.firstseen.serializers;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.types.ShardChain;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link ShardChain}.
 *
 * <p>Version 2: the fields in their order: buckets and width of the universe in 8 bytes each, the
 * headroom bits in a byte, the number of deltas in 4 bytes, the digest after its length, all others
 * in 8 bytes. Version 1 had another kind of universe and cannot be read.
 */
public final class ShardChainSerializer extends ImmutableSerializer<ShardChain> {

  public static final ShardChainSerializer INSTANCE = new ShardChainSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(ShardChain chain, DataOutputView out) throws IOException {
    UniverseFields.write(chain.universe(), out);
    out.writeByte(chain.headroomBits());
    out.writeLong(chain.count());
    ByteFields.writeString(chain.setDigest(), out);
    out.writeLong(chain.baseKeys());
    out.writeLong(chain.baseBytes());
    out.writeLong(chain.baseWindowEndMillis());
    out.writeInt(chain.deltas());
    out.writeLong(chain.deltaBytes());
  }

  @Override
  public ShardChain deserialize(DataInputView in) throws IOException {
    Universe universe = UniverseFields.read(in);
    int headroomBits = in.readUnsignedByte();
    long count = in.readLong();
    String setDigest = ByteFields.readString(in);
    long baseKeys = in.readLong();
    long baseBytes = in.readLong();
    long baseWindowEndMillis = in.readLong();
    int deltas = in.readInt();
    return new ShardChain(
        universe,
        headroomBits,
        count,
        setDigest,
        baseKeys,
        baseBytes,
        baseWindowEndMillis,
        deltas,
        in.readLong());
  }

  @Override
  public TypeSerializerSnapshot<ShardChain> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ShardChain> {
    public Snapshot() {
      super(2, () -> INSTANCE);
    }
  }
}
