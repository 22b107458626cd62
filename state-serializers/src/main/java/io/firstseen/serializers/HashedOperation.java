package io.firstseen.serializers;

import io.firstseen.types.Operation;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInfo;

/**
 * An accepted operation on one key, as the compaction needs it. Its event time is the timestamp of
 * the stream record.
 *
 * @param hash the key's 64-bit hash
 * @param operation whether the key is added or deleted
 */
@TypeInfo(HashedOperationSerializer.InfoFactory.class)
public record HashedOperation(long hash, Operation operation) {
  public HashedOperation {
    Objects.requireNonNull(operation, "operation");
  }
}
