package io.firstseen.serializers;

import org.apache.flink.api.common.serialization.SerializerConfig;
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
}
