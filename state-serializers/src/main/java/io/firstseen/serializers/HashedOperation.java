package io.firstseen.serializers;

import io.firstseen.types.Operation;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * An accepted change of one key, all that a snapshot needs to know of it; its event time is the
 * timestamp of the stream record that carries it.
 *
 * @param hash the key's 64-bit hash
 * @param operation what becomes of the key
 */
@TypeInfo(HashedOperationSerializer.InfoFactory.class)
public record HashedOperation(long hash, Operation operation) {
  public HashedOperation {
    Objects.requireNonNull(operation, "operation");
  }
}
