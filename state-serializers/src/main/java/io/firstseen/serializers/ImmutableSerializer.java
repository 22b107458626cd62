package io.firstseen.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A stateless serializer of a type whose instances never change: a copy is the instance itself.
 *
 * @param <T> the type that it writes and reads
 */
public abstract class ImmutableSerializer<T> extends TypeSerializerSingleton<T> {

  @Override
  public final boolean isImmutableType() {
    return true;
  }

  @Override
  public final T createInstance() {
    return null;
  }

  @Override
  public final T copy(T from) {
    return from;
  }

  @Override
  public final T copy(T from, T reuse) {
    return from;
  }

  @Override
  public final int getLength() {
    return -1;
  }

  @Override
  public final T deserialize(T reuse, DataInputView source) throws IOException {
    return deserialize(source);
  }

  @Override
  public final void copy(DataInputView source, DataOutputView target) throws IOException {
    serialize(deserialize(source), target);
  }
}
