package io.firstseen.serializers;

import io.firstseen.filters.cuckoo.CuckooFormat;
import io.firstseen.filters.cuckoo.CuckooPage;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Writes a page of a cuckoo filter, as {@link CuckooFormat} does; that format is version 1. */
public class CuckooPageSerializer extends TypeSerializerSingleton<CuckooPage> {
  public static final CuckooPageSerializer INSTANCE = new CuckooPageSerializer();

  private static final long serialVersionUID = 1;

  @Override
  public boolean isImmutableType() {
    return false;
  }

  @Override
  public CuckooPage createInstance() {
    return null;
  }

  @Override
  public CuckooPage copy(CuckooPage from) {
    return from.copy();
  }

  @Override
  public CuckooPage copy(CuckooPage from, CuckooPage reuse) {
    return from.copy();
  }

  @Override
  public int getLength() {
    return -1;
  }

  @Override
  public void serialize(CuckooPage page, DataOutputView out) throws IOException {
    CuckooFormat.writePage(page, out);
  }

  @Override
  public CuckooPage deserialize(DataInputView in) throws IOException {
    return CuckooFormat.readPage(in);
  }

  @Override
  public CuckooPage deserialize(CuckooPage reuse, DataInputView in) throws IOException {
    return CuckooFormat.readPage(in);
  }

  @Override
  public void copy(DataInputView in, DataOutputView out) throws IOException {
    CuckooFormat.writePage(CuckooFormat.readPage(in), out);
  }

  @Override
  public TypeSerializerSnapshot<CuckooPage> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<CuckooPage> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
