package io.firstseen.serializers;

import io.firstseen.types.AuditCounts;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes {@link AuditCounts}.
 *
 * <p>Version 1: the fields in their order, in 8 bytes each.
 */
public final class AuditCountsSerializer extends ImmutableSerializer<AuditCounts> {
  public static final AuditCountsSerializer INSTANCE = new AuditCountsSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(AuditCounts counts, DataOutputView out) throws IOException {
    out.writeLong(counts.newKeys());
    out.writeLong(counts.falsePositives());
    out.writeDouble(counts.predicted());
  }

  @Override
  public AuditCounts deserialize(DataInputView in) throws IOException {
    long newKeys = in.readLong();
    long falsePositives = in.readLong();
    double predicted = in.readDouble();
    return ByteFields.checked(() -> new AuditCounts(newKeys, falsePositives, predicted));
  }

  @Override
  public TypeSerializerSnapshot<AuditCounts> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<AuditCounts> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
