package io.firstseen.serializers;

import java.util.Objects;
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
    super(type);
    this.serializer = Objects.requireNonNull(serializer, "serializer");
  }

  @Override
  public TypeSerializer<T> createSerializer(SerializerConfig config) {
    return serializer.duplicate();
  }

  @Override
  public String toString() {
    return getTypeClass().getSimpleName();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SerializerTypeInformation<?> that
        && getTypeClass() == that.getTypeClass()
        && serializer.equals(that.serializer);
  }

  @Override
  public int hashCode() {
    return Objects.hash(getTypeClass(), serializer);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof SerializerTypeInformation;
  }
}
