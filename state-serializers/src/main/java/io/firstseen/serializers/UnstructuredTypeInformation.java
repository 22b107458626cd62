package io.firstseen.serializers;

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

  UnstructuredTypeInformation(Class<T> type) {
    this.type = Objects.requireNonNull(type, "type");
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
