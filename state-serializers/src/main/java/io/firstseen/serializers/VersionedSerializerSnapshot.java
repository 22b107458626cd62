package io.firstseen.serializers;

import java.io.IOException;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The snapshot of a serializer without parameters. It is only a format version, which Flink writes
 * before the snapshot. A version that this build cannot read is rejected with {@link
 * UnsupportedStateException}. State of an earlier supported version is read by a serializer of this
 * version and written by the current serializer.
 *
 * @param <T> the type that the serializer writes
 */
public abstract class VersionedSerializerSnapshot<T> implements TypeSerializerSnapshot<T> {

  private final int version;
  private final int oldestVersion;
  private final IntFunction<TypeSerializer<T>> serializerOf;
  private int readVersion;

  /**
   * Creates the snapshot for a format of which only the current version can be read.
   *
   * @param version the version of the bytes that the serializer writes, at least 1
   * @param serializer creates the serializer
   */
  protected VersionedSerializerSnapshot(int version, Supplier<TypeSerializer<T>> serializer) {
    this(version, version, current -> serializer.get());
  }

  /**
   * Creates the snapshot for a format of which all versions can be read.
   *
   * @param version the version of the bytes that are written, at least 1
   * @param serializerOf creates the serializer that reads a version; the serializer of the current
   *     version also writes
   */
  protected VersionedSerializerSnapshot(int version, IntFunction<TypeSerializer<T>> serializerOf) {
    this(version, 1, serializerOf);
  }

  private VersionedSerializerSnapshot(
      int version, int oldestVersion, IntFunction<TypeSerializer<T>> serializerOf) {
    this.version = version;
    this.oldestVersion = oldestVersion;
    this.serializerOf = serializerOf;
    this.readVersion = version;
  }

  @Override
  public final int getCurrentVersion() {
    return version;
  }

  @Override
  public final void writeSnapshot(DataOutputView out) {
    // Only the version is stored.
  }

  @Override
  public final void readSnapshot(int versionInState, DataInputView in, ClassLoader classLoader)
      throws IOException {
    if (versionInState < oldestVersion || versionInState > version) {
      throw new UnsupportedStateException(
          getClass(),
          versionInState,
          oldestVersion == version ? "" + version : oldestVersion + " to " + version);
    }
    readVersion = versionInState;
  }

  @Override
  public final TypeSerializer<T> restoreSerializer() {
    return serializerOf.apply(readVersion);
  }

  @Override
  public final TypeSerializerSchemaCompatibility<T> resolveSchemaCompatibility(
      TypeSerializerSnapshot<T> oldSerializerSnapshot) {
    if (oldSerializerSnapshot.getClass() != getClass()) {
      return TypeSerializerSchemaCompatibility.incompatible();
    }
    return ((VersionedSerializerSnapshot<T>) oldSerializerSnapshot).readVersion == version
        ? TypeSerializerSchemaCompatibility.compatibleAsIs()
        : TypeSerializerSchemaCompatibility.compatibleAfterMigration();
  }
}
