package io.firstseen.serializers;

import java.io.Serializable;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.apache.flink.api.common.functions.InvalidTypesException;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Type information of a class that contains a user's event.
 *
 * @param <W> the class
 * @param <T> type of the event
 */
final class WrappingTypeInformation<W, T> extends UnstructuredTypeInformation<W> {
  private static final long serialVersionUID = 1;

  private final TypeInformation<T> event;
  private final SerializerFactory<W, T> factory;

  interface SerializerFactory<W, T>
      extends Function<TypeSerializer<T>, TypeSerializer<W>>, Serializable {}

  @SuppressWarnings("unchecked") // A class object knows no type arguments.
  WrappingTypeInformation(
      Class<? super W> type, TypeInformation<T> event, SerializerFactory<W, T> factory) {
    super((Class<W>) type);
    if (event == null) {
      throw new InvalidTypesException(
          "The type of the events in " + type.getSimpleName() + " is not known here; name it.");
    }
    this.event = event;
    this.factory = factory;
  }

  @Override
  public Map<String, TypeInformation<?>> getGenericParameters() {
    return Map.of("T", event);
  }

  @Override
  public TypeSerializer<W> createSerializer(SerializerConfig config) {
    return factory.apply(event.createSerializer(config));
  }

  @Override
  public String toString() {
    return getTypeClass().getSimpleName() + "<" + event + ">";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WrappingTypeInformation<?, ?> that
        && getTypeClass() == that.getTypeClass()
        && event.equals(that.event);
  }

  @Override
  public int hashCode() {
    return Objects.hash(getTypeClass(), event);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof WrappingTypeInformation;
  }
}
