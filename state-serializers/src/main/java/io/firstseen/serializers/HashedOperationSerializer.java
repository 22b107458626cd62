package io.firstseen.serializers;

import io.firstseen.types.Operation;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link HashedOperation}.
 *
 * <p>Version 1: the operation in a byte (0 add, 1 delete), the hash in 8 bytes.
 */
public final class HashedOperationSerializer extends ImmutableSerializer<HashedOperation> {

  public static final HashedOperationSerializer INSTANCE = new HashedOperationSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(HashedOperation operation, DataOutputView out) throws IOException {
    out.writeByte(operation.operation() == Operation.DELETE ? 1 : 0);
    out.writeLong(operation.hash());
  }

  @Override
  public HashedOperation deserialize(DataInputView in) throws IOException {
    int code = in.readUnsignedByte();
    if (code > 1) {
      throw new IOException("unknown operation: " + code);
    }
    return new HashedOperation(in.readLong(), code == 1 ? Operation.DELETE : Operation.ADD);
  }

  @Override
  public TypeSerializerSnapshot<HashedOperation> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<HashedOperation> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }

  /** Lets Flink find the serializer. */
  public static final class InfoFactory extends SerializerTypeInformation.Factory<HashedOperation> {
    public InfoFactory() {
      super(HashedOperation.class, INSTANCE);
    }
  }
}
