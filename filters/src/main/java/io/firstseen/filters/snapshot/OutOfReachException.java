package io.firstseen.filters.snapshot;

/** A blob that is not here, and that is where it cannot be looked for. */
final class OutOfReachException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  OutOfReachException(String message) {
    super(message);
  }
}
