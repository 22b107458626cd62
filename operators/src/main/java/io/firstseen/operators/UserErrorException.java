package io.firstseen.operators;

import java.io.EOFException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.util.SerializedThrowable;

/**
 * An error that the user can correct: a missing file, an unreachable broker, a topic with the wrong
 * settings. The message is meant for the user, so there is no stack trace. If a task throws it, the
 * job fails without a restart, regardless of its restart strategy.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class UserErrorException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public UserErrorException(String sentence) {
    super(sentence, null, false, false);
  }

  /**
   * Describes a failure of the file system, because the messages of its exceptions often contain
   * only the path.
   */
  public static UserErrorException cannot(String action, Path file, IOException e) {
    return new UserErrorException("cannot %s %s: %s".formatted(action, file, reason(e)));
  }

  /** Returns the reason why a file could not be read or written. */
  public static String reason(IOException e) {
    String reason = e.getMessage();
    if (e instanceof NoSuchFileException) {
      reason = "there is no such file or directory";
    } else if (e instanceof AccessDeniedException) {
      reason = "permission denied";
    } else if (e instanceof EOFException && reason == null) {
      reason = "it is truncated";
    } else if (e instanceof FileSystemException fileSystem && fileSystem.getReason() != null) {
      reason = fileSystem.getReason();
    }
    return reason;
  }

  /** Returns the last cause, because exceptions of Flink and Kafka may not contain the reason. */
  public static Throwable lastCause(Throwable failure) {
    return failure.getCause() == null ? failure : lastCause(failure.getCause());
  }

  /**
   * Returns the message for the user if {@code failure} was caused by a user error. Also works for
   * a failed job, whose exceptions Flink wraps and serializes.
   */
  public static Optional<String> sentence(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UserErrorException) {
        return Optional.of(cause.getMessage());
      }
      if (cause instanceof SerializedThrowable serialized
          && serialized.getOriginalErrorClassName().equals(UserErrorException.class.getName())) {
        // Its message starts with the class name: "io.…UserErrorException: message".
        String message = serialized.getMessage();
        String prefix = serialized.getOriginalErrorClassName() + ": ";
        return Optional.of(
            message.startsWith(prefix) ? message.substring(prefix.length()) : message);
      }
    }
    return Optional.empty();
  }
}
