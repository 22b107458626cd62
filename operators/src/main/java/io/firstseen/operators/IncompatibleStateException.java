package io.firstseen.operators;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * The state was built with parameters that contradict those of this job, or the job's state backend
 * cannot hold the state. Flink fails the job at once, whatever its restart strategy, because a
 * restart would fail again.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class IncompatibleStateException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates the exception with a sentence that names what differs. */
  public IncompatibleStateException(String message) {
    super(message);
  }
}
