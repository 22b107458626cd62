package io.firstseen.serializers;

import java.io.Serializable;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.api.common.functions.InvalidTypesException;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.jspecify.annotations.Nullable;

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
    super((Class<W>) type, requireKnown(event, type));
    this.event = event;
    this.factory = factory;
  }

  private static TypeInformation<?> requireKnown(@Nullable TypeInformation<?> event, Class<?> in) {
    if (event == null) {
      throw new InvalidTypesException(
          "The type of the events in " + in.getSimpleName() + " is not known here; name it.");
    }
    return event;
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
}
