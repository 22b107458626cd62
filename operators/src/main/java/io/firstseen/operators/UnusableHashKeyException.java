package io.firstseen.operators;

import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A task cannot read the hash key of its job. Flink fails the job at once, whatever its restart
 * strategy, because no restart mends it. The message is one sentence for the user; there is no
 * stack trace.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class UnusableHashKeyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  UnusableHashKeyException(String sentence) {
    super(sentence, null, false, false);
  }
}
