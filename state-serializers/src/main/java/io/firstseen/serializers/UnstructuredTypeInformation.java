package io.firstseen.serializers;

import java.io.Serializable;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;

/**
 * Type information of a class whose fields only its serializer accesses. Such a type is never a
 * Flink key: Firstseen keys its streams by shard.
 *
 * @param <T> the class
 */
abstract class UnstructuredTypeInformation<T> extends TypeInformation<T> {
  private static final long serialVersionUID = 1;

  private final Class<T> type;
  private final Serializable part;

  /**
   * @param part the serializer, or what determines it
   */
  UnstructuredTypeInformation(Class<T> type, Serializable part) {
    this.type = Objects.requireNonNull(type, "type");
    this.part = Objects.requireNonNull(part, "part");
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof UnstructuredTypeInformation<?> that
        && type == that.type
        && part.equals(that.part);
  }

  @Override
  public final int hashCode() {
    return Objects.hash(type, part);
  }

  @Override
  public final boolean canEqual(Object other) {
    return other instanceof UnstructuredTypeInformation;
  }

  @Override
  public String toString() {
    return type.getSimpleName();
  }

  @Override
  public final boolean isBasicType() {
    return false;
  }

  @Override
  public final boolean isTupleType() {
    return false;
  }

  @Override
  public final int getArity() {
    return 1;
  }

  @Override
  public final int getTotalFields() {
    return 1;
  }

  @Override
  public final Class<T> getTypeClass() {
    return type;
  }

  @Override
  public final boolean isKeyType() {
    return false;
  }
}
