package io.firstseen.filters.snapshot;

/** Bytes that look sound but need a newer reader than this one. */
public final class UnsupportedSnapshotException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with its sentence. */
  public UnsupportedSnapshotException(String message) {
    super(message);
  }

  /** Makes the exception with its sentence and what led to it. */
  public UnsupportedSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  UnsupportedSnapshotException at(Object place) {
    return new UnsupportedSnapshotException(place + ": " + getMessage(), this);
  }
}
