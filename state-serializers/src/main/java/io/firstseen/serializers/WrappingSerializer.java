package io.firstseen.serializers;

import java.io.IOException;
import java.util.Objects;
import java.util.function.Function;
import org.apache.flink.api.common.typeutils.CompositeTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Base class of serializers of types that contain a user's event. Uses the event's serializer.
 *
 * @param <W> the type that it writes and reads
 * @param <T> type of the event
 */
abstract class WrappingSerializer<W, T> extends TypeSerializer<W> {
  private static final long serialVersionUID = 1;

  final TypeSerializer<T> event;

  WrappingSerializer(TypeSerializer<T> event) {
    this.event = Objects.requireNonNull(event, "event");
  }

  abstract WrappingSerializer<W, T> of(TypeSerializer<T> eventSerializer);

  @Override
  public final boolean isImmutableType() {
    return event.isImmutableType();
  }

  @Override
  public final TypeSerializer<W> duplicate() {
    return of(event.duplicate());
  }

  @Override
  public final W createInstance() {
    return null;
  }

  @Override
  public final W deserialize(W reuse, DataInputView in) throws IOException {
    return deserialize(in);
  }

  @Override
  public final void copy(DataInputView in, DataOutputView out) throws IOException {
    serialize(deserialize(in), out);
  }

  @Override
  public final int getLength() {
    return -1;
  }

  @Override
  public final W copy(W from, W reuse) {
    return copy(from);
  }

  @Override
  @SuppressWarnings("EqualsGetClass") // Each subclass writes another type.
  public final boolean equals(Object other) {
    return other != null
        && getClass() == other.getClass()
        && event.equals(((WrappingSerializer<?, ?>) other).event);
  }

  @Override
  public final int hashCode() {
    return event.hashCode();
  }

  /**
   * The format version and the events' serializer.
   *
   * @param <W> the type that the serializer writes
   * @param <T> type of the event
   * @param <S> the serializer
   */
  abstract static class Snapshot<W, T, S extends WrappingSerializer<W, T>>
      extends CompositeTypeSerializerSnapshot<W, S> {
    private final int version;
    private final Function<TypeSerializer<T>, S> constructor;

    /** Called by Flink before it reads a snapshot. */
    Snapshot(int version, Function<TypeSerializer<T>, S> constructor) {
      this.version = version;
      this.constructor = constructor;
    }

    Snapshot(int version, S serializer, Function<TypeSerializer<T>, S> constructor) {
      super(serializer);
      this.version = version;
      this.constructor = constructor;
    }

    @Override
    protected final int getCurrentOuterSnapshotVersion() {
      return version;
    }

    @Override
    protected final void readOuterSnapshot(
        int readVersion, DataInputView in, ClassLoader classLoader) throws IOException {
      if (readVersion < 1 || readVersion > version) {
        throw new UnsupportedStateException(
            getClass(), readVersion, version == 1 ? "1" : "1 to " + version);
      }
    }

    @Override
    protected final TypeSerializer<?>[] getNestedSerializers(S outer) {
      return new TypeSerializer<?>[] {outer.event};
    }

    @Override
    @SuppressWarnings("unchecked") // Flink hands back what getNestedSerializers gave.
    protected final S createOuterSerializerWithNestedSerializers(TypeSerializer<?>[] nested) {
      return constructor.apply((TypeSerializer<T>) nested[0]);
    }
  }
}
