package io.firstseen.filters.snapshot;

/** Bytes that look sound but need a newer reader than this one. */
public final class UnsupportedSnapshotException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with a one-sentence message. */
  public UnsupportedSnapshotException(String message) {
    super(message);
  }

  /** Creates the exception with a one-sentence message and its cause. */
  public UnsupportedSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public UnsupportedSnapshotException at(Object place) {
    return new UnsupportedSnapshotException(place + ": " + getMessage(), this);
  }
}
