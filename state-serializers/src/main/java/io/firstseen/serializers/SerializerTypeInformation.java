package io.firstseen.serializers;

import java.lang.reflect.Type;
import java.util.Map;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Type information of a class that has one hand-written serializer.
 *
 * @param <T> the class
 */
public final class SerializerTypeInformation<T> extends UnstructuredTypeInformation<T> {

  private final TypeSerializer<T> serializer;

  /**
   * @param type the class
   * @param serializer its serializer
   */
  public SerializerTypeInformation(Class<T> type, TypeSerializer<T> serializer) {
    super(type, serializer);
    this.serializer = serializer;
  }

  @Override
  public TypeSerializer<T> createSerializer(SerializerConfig config) {
    return serializer.duplicate();
  }

  /** Lets Flink find the serializer of a class. */
  abstract static class Factory<T> extends TypeInfoFactory<T> {
    private final SerializerTypeInformation<T> info;

    Factory(Class<T> type, TypeSerializer<T> serializer) {
      info = new SerializerTypeInformation<>(type, serializer);
    }

    @Override
    public final TypeInformation<T> createTypeInfo(
        Type type, Map<String, TypeInformation<?>> parameters) {
      return info;
    }
  }
}
