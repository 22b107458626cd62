package io.firstseen.serializers;

import java.util.Objects;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Base of a serializer of a type that carries a user's event, whose serializer it holds.
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
}
