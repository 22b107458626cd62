package io.firstseen.filters.snapshot;

/**
 * Thrown if a blob is not in the local directory and this program cannot read the directory that
 * the manifest names.
 */
final class OutOfReachException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  OutOfReachException(String message) {
    super(message);
  }
}
