package io.firstseen.filters.snapshot;

/** Thrown if bytes appear valid but require a newer reader. */
public final class UnsupportedSnapshotException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public UnsupportedSnapshotException(String message) {
    super(message);
  }

  /** Creates the exception with its cause. */
  public UnsupportedSnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public UnsupportedSnapshotException at(Object place) {
    return new UnsupportedSnapshotException(place + ": " + getMessage(), this);
  }
}
