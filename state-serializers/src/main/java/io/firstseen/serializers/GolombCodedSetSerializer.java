package io.firstseen.serializers;

import io.firstseen.filters.gcs.GolombCodedSet;
import io.firstseen.filters.gcs.Universe;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link GolombCodedSet}.
 *
 * <p>Version 3: buckets and width of the universe, the count, and the length of the codes in bits,
 * in 8 bytes each; then the bucket starts and the codes, each after its length. {@code
 * docs/format/snapshot-v1.md} specifies the sections. Versions 1 and 2 contained drafts of the
 * sections and cannot be read.
 */
public final class GolombCodedSetSerializer extends ImmutableSerializer<GolombCodedSet> {

  public static final GolombCodedSetSerializer INSTANCE = new GolombCodedSetSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(GolombCodedSet set, DataOutputView out) throws IOException {
    ByteFields.writeUniverse(set.universe(), out);
    out.writeLong(set.count());
    out.writeLong(set.payloadBits());
    ByteFields.writeBytes(bytes(set.bucketStarts()), out);
    ByteFields.writeBytes(bytes(set.payload()), out);
  }

  @Override
  public GolombCodedSet deserialize(DataInputView in) throws IOException {
    Universe universe = ByteFields.readUniverse(in);
    long count = in.readLong();
    long payloadBits = in.readLong();
    ByteBuffer bucketStarts = ByteBuffer.wrap(ByteFields.readBytes(in));
    ByteBuffer payload = ByteBuffer.wrap(ByteFields.readBytes(in));
    return GolombCodedSet.wrap(count, universe, payloadBits, bucketStarts, payload);
  }

  private static byte[] bytes(ByteBuffer section) {
    byte[] bytes = new byte[section.remaining()];
    section.get(bytes);
    return bytes;
  }

  @Override
  public TypeSerializerSnapshot<GolombCodedSet> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<GolombCodedSet> {
    public Snapshot() {
      super(3, () -> INSTANCE);
    }
  }
}
