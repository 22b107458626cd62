package io.firstseen.filters.snapshot;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A snapshot, manifest or snapshot directory that cannot be used; the message is one sentence. */
public class SnapshotException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Makes the exception with its sentence. */
  public SnapshotException(String message) {
    super(message);
  }

  /** Makes the exception with its sentence and what led to it. */
  public SnapshotException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Says in words what the file system answered; its exceptions often repeat the path alone. */
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

  /** The same refusal, its sentence preceded by the place that it is about. */
  SnapshotException at(Object place) {
    return new SnapshotException(place + ": " + getMessage(), this);
  }
}
