package io.firstseen.serializers;

import io.firstseen.types.ShardSummary;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link ShardSummary}.
 *
 * <p>Version 1: the numbers in their order, in 8 bytes each, and the directory after its length.
 */
public final class ShardSummarySerializer extends ImmutableSerializer<ShardSummary> {
  public static final ShardSummarySerializer INSTANCE = new ShardSummarySerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(ShardSummary summary, DataOutputView out) throws IOException {
    out.writeLong(summary.keys());
    out.writeLong(summary.slots());
    out.writeLong(summary.bytes());
    ByteFields.writeBytes(summary.directory(), out);
  }

  @Override
  public ShardSummary deserialize(DataInputView in) throws IOException {
    long keys = in.readLong();
    long slots = in.readLong();
    long bytes = in.readLong();
    byte[] directory = ByteFields.readBytes(in);
    return ByteFields.checked(() -> new ShardSummary(keys, slots, bytes, directory));
  }

  @Override
  public TypeSerializerSnapshot<ShardSummary> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<ShardSummary> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
