package io.firstseen.serializers;

import java.io.IOException;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * State has a format version that this build cannot read. Flink fails the job at once, whatever its
 * restart strategy, because a restart would fail again.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class UnsupportedStateException extends IOException {
  private static final long serialVersionUID = 1;

  /**
   * @param serializer the serializer that wrote the state
   * @param version the version in state
   * @param readable the versions that can be read
   */
  UnsupportedStateException(Class<?> serializer, int version, String readable) {
    super(
        "%s: state has format version %d, this build reads version %s"
            .formatted(serializer.getName(), version, readable));
  }
}
