package io.firstseen.serializers;

import io.firstseen.filters.gcs.Universe;
import io.firstseen.filters.snapshot.ShardChain;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link ShardChain}.
 *
 * <p>Version 3: the fields in their order: buckets and width of the universe in 8 bytes each, the
 * headroom bits in a byte, all others in 8 bytes. Earlier versions were of other formats of
 * snapshots and cannot be read.
 */
public final class ShardChainSerializer extends ImmutableSerializer<ShardChain> {

  public static final ShardChainSerializer INSTANCE = new ShardChainSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(ShardChain chain, DataOutputView out) throws IOException {
    ByteFields.writeUniverse(chain.universe(), out);
    out.writeByte(chain.headroomBits());
    out.writeLong(chain.count());
    out.writeLong(chain.baseKeys());
    out.writeLong(chain.baseBytes());
    out.writeLong(chain.baseWindowEndMillis());
    out.writeLong(chain.sectionBytes());
  }

  @Override
  public ShardChain deserialize(DataInputView in) throws IOException {
    Universe universe = ByteFields.readUniverse(in);
    int headroomBits = in.readUnsignedByte();
    long count = in.readLong();
    long baseKeys = in.readLong();
    long baseBytes = in.readLong();
    long baseWindowEndMillis = in.readLong();
    return new ShardChain(
        universe, headroomBits, count, baseKeys, baseBytes, baseWindowEndMillis, in.readLong());
  }

  @Override
  public TypeSerializerSnapshot<ShardChain> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ShardChain> {
    public Snapshot() {
      super(3, () -> INSTANCE);
    }
  }
}
