package io.firstseen.serializers;

import java.io.IOException;
import java.util.function.Supplier;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The snapshot of a serializer without parameters: nothing but a format version, which Flink writes
 * before it. A version that is not the current one is refused with a sentence.
 *
 * @param <T> the type that the serializer writes
 */
public abstract class VersionedSerializerSnapshot<T> implements TypeSerializerSnapshot<T> {

  private final int version;
  private final Supplier<TypeSerializer<T>> serializer;

  /**
   * @param version the version of the bytes that the serializer writes, at least 1
   * @param serializer gives the serializer
   */
  protected VersionedSerializerSnapshot(int version, Supplier<TypeSerializer<T>> serializer) {
    this.version = version;
    this.serializer = serializer;
  }

  @Override
  public final int getCurrentVersion() {
    return version;
  }

  @Override
  public final void writeSnapshot(DataOutputView out) {
    // The version says it all.
  }

  @Override
  public final void readSnapshot(int readVersion, DataInputView in, ClassLoader classLoader)
      throws IOException {
    if (readVersion != version) {
      throw new IOException(
          "%s: state has format version %d, this build reads version %d"
              .formatted(getClass().getName(), readVersion, version));
    }
  }

  @Override
  public final TypeSerializer<T> restoreSerializer() {
    return serializer.get();
  }

  @Override
  public final TypeSerializerSchemaCompatibility<T> resolveSchemaCompatibility(
      TypeSerializerSnapshot<T> oldSerializerSnapshot) {
    return oldSerializerSnapshot.getClass() == getClass()
        ? TypeSerializerSchemaCompatibility.compatibleAsIs()
        : TypeSerializerSchemaCompatibility.incompatible();
  }
}
