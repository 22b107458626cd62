package io.firstseen.operators;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * The state was built with parameters that this job contradicts, or the job gives its state a place
 * that cannot hold it. Flink ends the job at once, whatever its restart strategy: to start again
 * would change nothing.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class IncompatibleStateException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** With a sentence that names what differs. */
  public IncompatibleStateException(String message) {
    super(message);
  }
}
