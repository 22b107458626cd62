package io.firstseen.serializers;

import java.util.Objects;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;

/**
 * Type information of a class that has one serializer, written by hand. Such a type is never a key:
 * Firstseen keys its streams by shard numbers.
 *
 * @param <T> the class
 */
public final class SerializerTypeInformation<T> extends TypeInformation<T> {

  private final Class<T> type;
  private final TypeSerializer<T> serializer;

  /**
   * @param type the class
   * @param serializer its serializer
   */
  public SerializerTypeInformation(Class<T> type, TypeSerializer<T> serializer) {
    this.type = Objects.requireNonNull(type, "type");
    this.serializer = Objects.requireNonNull(serializer, "serializer");
  }

  @Override
  public boolean isBasicType() {
    return false;
  }

  @Override
  public boolean isTupleType() {
    return false;
  }

  @Override
  public int getArity() {
    return 1;
  }

  @Override
  public int getTotalFields() {
    return 1;
  }

  @Override
  public Class<T> getTypeClass() {
    return type;
  }

  @Override
  public boolean isKeyType() {
    return false;
  }

  @Override
  public TypeSerializer<T> createSerializer(SerializerConfig config) {
    return serializer.duplicate();
  }

  @Override
  public String toString() {
    return type.getSimpleName();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SerializerTypeInformation<?> that
        && type == that.type
        && serializer.equals(that.serializer);
  }

  @Override
  public int hashCode() {
    return Objects.hash(type, serializer);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof SerializerTypeInformation;
  }
}
