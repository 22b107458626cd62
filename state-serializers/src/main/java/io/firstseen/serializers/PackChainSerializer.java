package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.PackChain;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a {@link PackChain}.
 *
 * <p>Version 1: the number of kept packs in 4 bytes, these packs, the bytes of all packs in 8
 * bytes, the list of bases, and the other fields in 8 bytes each. {@link ByteFields} writes the
 * references.
 */
public final class PackChainSerializer extends ImmutableSerializer<PackChain> {

  public static final PackChainSerializer INSTANCE = new PackChainSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(PackChain chain, DataOutputView out) throws IOException {
    out.writeInt(chain.kept().size());
    for (BlobReference pack : chain.kept()) {
      ByteFields.writeReference(pack, out);
    }
    out.writeLong(chain.packBytes());
    ByteFields.writeReference(chain.list(), out);
    out.writeLong(chain.basesBytes());
    out.writeLong(chain.listWindowEndMillis());
    out.writeLong(chain.packsSince());
  }

  @Override
  public PackChain deserialize(DataInputView in) throws IOException {
    int count = in.readInt();
    if (count < 0) {
      throw new IOException("number of kept packs must be at least 0, got " + count);
    }
    List<BlobReference> kept = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      kept.add(ByteFields.readReference(in));
    }
    long packBytes = in.readLong();
    BlobReference list = ByteFields.readReference(in);
    long basesBytes = in.readLong();
    long listWindowEndMillis = in.readLong();
    return new PackChain(kept, packBytes, list, basesBytes, listWindowEndMillis, in.readLong());
  }

  @Override
  public TypeSerializerSnapshot<PackChain> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<PackChain> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
