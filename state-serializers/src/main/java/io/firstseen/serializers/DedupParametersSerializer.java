package io.firstseen.serializers;

import io.firstseen.types.DedupParameters;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes {@link DedupParameters}.
 *
 * <p>Version 1: the fields in their order; numbers in 4 bytes (the key check in 8), texts after
 * their length.
 */
public final class DedupParametersSerializer extends ImmutableSerializer<DedupParameters> {
  public static final DedupParametersSerializer INSTANCE = new DedupParametersSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(DedupParameters parameters, DataOutputView out) throws IOException {
    out.writeInt(parameters.identityBits());
    out.writeInt(parameters.shardCount());
    ByteFields.writeString(parameters.hashAlgorithm(), out);
    out.writeLong(parameters.keyCheck());
    ByteFields.writeString(parameters.canonicaliser(), out);
    out.writeInt(parameters.canonicaliserVersion());
  }

  @Override
  public DedupParameters deserialize(DataInputView in) throws IOException {
    int identityBits = in.readInt();
    int shardCount = in.readInt();
    String hashAlgorithm = ByteFields.readString(in);
    long keyCheck = in.readLong();
    String canonicaliser = ByteFields.readString(in);
    return new DedupParameters(
        identityBits, shardCount, hashAlgorithm, keyCheck, canonicaliser, in.readInt());
  }

  @Override
  public TypeSerializerSnapshot<DedupParameters> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<DedupParameters> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
