package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Thrown if a snapshot, manifest or snapshot directory cannot be used. */
public class SnapshotException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception. */
  public SnapshotException(String message) {
    super(message);
  }

  /** Creates the exception with its cause. */
  public SnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Describes a failure of the file system, because the messages of its exceptions often contain
   * only the path.
   */
  static SnapshotException of(String action, Path path, IOException e) {
    String reason = e.getMessage();
    if (e instanceof NoSuchFileException) {
      reason = "there is no such file";
    } else if (e instanceof AccessDeniedException) {
      reason = "permission denied";
    } else if (e instanceof FileAlreadyExistsException fileInTheWay) {
      reason = fileInTheWay.getFile() + " is not a directory";
    } else if (e instanceof FileSystemException fileSystemException
        && fileSystemException.getReason() != null) {
      reason = fileSystemException.getReason();
    }
    return new SnapshotException(action + " " + path + ": " + reason, e);
  }

  /** Returns a copy of this exception whose message begins with the location of the failure. */
  public SnapshotException at(Object place) {
    return new SnapshotException(place + ": " + getMessage(), this);
  }
}
