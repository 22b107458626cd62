package io.firstseen.serializers;

import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes {@link DedupParameters}.
 *
 * <p>Version 2: the fields in their order; numbers in 4 bytes (the key check in 8), texts after
 * their length, the mode as the text of its id. Version 1, which is read as well, has no mode: all
 * state was approximate then.
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
    ByteFields.writeString(parameters.mode().id(), out);
  }

  @Override
  public DedupParameters deserialize(DataInputView in) throws IOException {
    return read(in, 2);
  }

  private static DedupParameters read(DataInputView in, int version) throws IOException {
    int identityBits = in.readInt();
    int shardCount = in.readInt();
    String hashAlgorithm = ByteFields.readString(in);
    long keyCheck = in.readLong();
    String canonicaliser = ByteFields.readString(in);
    int canonicaliserVersion = in.readInt();
    DedupMode mode = version < 2 ? DedupMode.APPROXIMATE : mode(ByteFields.readString(in));
    return new DedupParameters(
        identityBits,
        shardCount,
        hashAlgorithm,
        keyCheck,
        canonicaliser,
        canonicaliserVersion,
        mode);
  }

  private static DedupMode mode(String id) throws IOException {
    try {
      return DedupMode.of(id);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public TypeSerializerSnapshot<DedupParameters> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<DedupParameters> {
    public Snapshot() {
      super(2, version -> version == 2 ? INSTANCE : new Earlier(version));
    }
  }

  /** Reads the state of an earlier version. */
  private static final class Earlier extends ImmutableSerializer<DedupParameters> {
    private static final long serialVersionUID = 1;

    private final int version;

    Earlier(int version) {
      this.version = version;
    }

    @Override
    public void serialize(DedupParameters parameters, DataOutputView out) {
      throw new IllegalStateException("no state is written in format version " + version);
    }

    @Override
    public DedupParameters deserialize(DataInputView in) throws IOException {
      return read(in, version);
    }

    @Override
    public TypeSerializerSnapshot<DedupParameters> snapshotConfiguration() {
      return new Snapshot();
    }
  }
}
