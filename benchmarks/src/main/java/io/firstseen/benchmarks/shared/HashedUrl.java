package io.firstseen.benchmarks.shared;

import io.firstseen.serializers.ImmutableSerializer;
import io.firstseen.serializers.SerializerTypeInformation;
import io.firstseen.serializers.VersionedSerializerSnapshot;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A URL with its hash, so that exact dedup by hash computes it once per record, like ours.
 *
 * @param hash of the URL's bytes
 * @param url the event
 */
public record HashedUrl(long hash, Url url) {
  public static final TypeInformation<HashedUrl> TYPE =
      new SerializerTypeInformation<>(HashedUrl.class, new Serializer());

  static final class Serializer extends ImmutableSerializer<HashedUrl> {
    private static final long serialVersionUID = 1;

    @Override
    public void serialize(HashedUrl hashed, DataOutputView out) throws IOException {
      out.writeLong(hashed.hash());
      UrlSerializer.INSTANCE.serialize(hashed.url(), out);
    }

    @Override
    public HashedUrl deserialize(DataInputView in) throws IOException {
      return new HashedUrl(in.readLong(), UrlSerializer.INSTANCE.deserialize(in));
    }

    @Override
    public TypeSerializerSnapshot<HashedUrl> snapshotConfiguration() {
      return new Snapshot();
    }
  }

  public static final class Snapshot extends VersionedSerializerSnapshot<HashedUrl> {
    public Snapshot() {
      super(1, Serializer::new);
    }
  }
}
