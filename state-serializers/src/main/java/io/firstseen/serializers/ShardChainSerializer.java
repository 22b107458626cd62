package io.firstseen.serializers;

import io.firstseen.types.ShardChain;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link ShardChain}.
 *
 * <p>Version 1: the fields in their order: the value bits in a byte, the number of deltas in 4
 * bytes, the digest after its length, all others in 8 bytes.
 */
public final class ShardChainSerializer extends ImmutableSerializer<ShardChain> {

  public static final ShardChainSerializer INSTANCE = new ShardChainSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(ShardChain chain, DataOutputView out) throws IOException {
    out.writeByte(chain.valueBits());
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
    int valueBits = in.readUnsignedByte();
    long count = in.readLong();
    String setDigest = ByteFields.readString(in);
    long baseKeys = in.readLong();
    long baseBytes = in.readLong();
    long baseWindowEndMillis = in.readLong();
    int deltas = in.readInt();
    return new ShardChain(
        valueBits,
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
      super(1, () -> INSTANCE);
    }
  }
}
