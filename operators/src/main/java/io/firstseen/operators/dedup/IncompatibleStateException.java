package io.firstseen.operators.dedup;

/** The restored state was built with parameters that this job contradicts. */
public final class IncompatibleStateException extends RuntimeException {
  private static final long serialVersionUID = 1;

  IncompatibleStateException(String message) {
    super(message);
  }
}
