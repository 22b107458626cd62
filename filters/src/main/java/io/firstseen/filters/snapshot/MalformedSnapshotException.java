package io.firstseen.filters.snapshot;

/** Bytes that no version of this format allows: damaged, forged, or something else altogether. */
public final class MalformedSnapshotException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with a one-sentence message. */
  public MalformedSnapshotException(String message) {
    super(message);
  }

  /** Creates the exception with a one-sentence message and its cause. */
  public MalformedSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public MalformedSnapshotException at(Object place) {
    return new MalformedSnapshotException(place + ": " + getMessage(), this);
  }
}
