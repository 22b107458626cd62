package io.firstseen.benchmarks.shared;

import io.firstseen.serializers.ImmutableSerializer;
import io.firstseen.serializers.SerializerTypeInformation;
import io.firstseen.serializers.VersionedSerializerSnapshot;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Writes a {@link Url}: its length, then its bytes. */
public final class UrlSerializer extends ImmutableSerializer<Url> {
  public static final UrlSerializer INSTANCE = new UrlSerializer();
  public static final TypeInformation<Url> TYPE =
      new SerializerTypeInformation<>(Url.class, INSTANCE);

  private static final long serialVersionUID = 1;

  @Override
  public void serialize(Url url, DataOutputView out) throws IOException {
    out.writeInt(url.utf8().length);
    out.write(url.utf8());
  }

  @Override
  public Url deserialize(DataInputView in) throws IOException {
    byte[] utf8 = new byte[in.readInt()];
    in.readFully(utf8);
    return new Url(utf8);
  }

  @Override
  public TypeSerializerSnapshot<Url> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state; Flink creates it by reflection. */
  public static final class Snapshot extends VersionedSerializerSnapshot<Url> {
    public Snapshot() {
      super(1, () -> INSTANCE);
    }
  }
}
