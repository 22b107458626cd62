package io.firstseen.filters.snapshot;

/** Bytes that no version of this format allows: damaged, forged, or something else altogether. */
public final class MalformedSnapshotException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with its sentence. */
  public MalformedSnapshotException(String message) {
    super(message);
  }

  /** Makes the exception with its sentence and what led to it. */
  public MalformedSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  MalformedSnapshotException at(Object place) {
    return new MalformedSnapshotException(place + ": " + getMessage(), this);
  }
}
