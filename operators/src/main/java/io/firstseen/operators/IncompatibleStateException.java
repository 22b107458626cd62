package io.firstseen.operators;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * Thrown if the state was built with parameters that contradict this job's parameters, or if the
 * job's state backend cannot hold the state. Flink fails the job at once, whatever its restart
 * strategy, because a restart would fail again.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class IncompatibleStateException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates the exception with a message that names the differences. */
  public IncompatibleStateException(String message) {
    super(message);
  }
}
