package io.firstseen.filters.snapshot;

/**
 * Thrown if bytes are not valid in any version of the format: they are damaged, forged, or in a
 * different format.
 */
public final class MalformedSnapshotException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public MalformedSnapshotException(String message) {
    super(message);
  }

  /** Creates the exception with its cause. */
  public MalformedSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public MalformedSnapshotException at(Object place) {
    return new MalformedSnapshotException(place + ": " + getMessage(), this);
  }
}
