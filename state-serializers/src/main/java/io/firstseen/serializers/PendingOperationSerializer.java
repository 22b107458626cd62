package io.firstseen.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes the pending operation of a key in a window: the time of its last add, at least 0, or
 * {@link #DELETED}. Without a ttl the time is 0, and every operation needs one byte.
 *
 * <p>Version 1: the number plus 1, in LEB128.
 */
public final class PendingOperationSerializer extends ImmutableSerializer<Long> {

  /** The last operation was a delete. */
  public static final long DELETED = -1;

  public static final PendingOperationSerializer INSTANCE = new PendingOperationSerializer();

  private static final long serialVersionUID = 1;

  private static final int LAST_SHIFT = 63;

  @Override
  public void serialize(Long operation, DataOutputView out) throws IOException {
    ByteFields.writeLength(operation + 1, out);
  }

  @Override
  public Long deserialize(DataInputView in) throws IOException {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = in.readUnsignedByte();
      if (shift == LAST_SHIFT && next > 1) {
        break;
      }
      value |= (next & 0x7FL) << shift;
      if (next <= 0x7F) {
        return value - 1;
      }
    }
    throw new IOException("a pending operation does not fit into 64 bits");
  }

  @Override
  public TypeSerializerSnapshot<Long> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<Long> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
