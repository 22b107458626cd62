package io.firstseen.jobs.shared;

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
 * A mistake that the user can mend: a missing file, an unreachable broker, a topic with the wrong
 * settings. The message is one sentence for the user's eyes; there is no stack trace. Flink ends a
 * job whose task throws it, whatever its restart strategy: the user has to mend something first.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class UserErrorException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public UserErrorException(String sentence) {
    super(sentence, null, false, false);
  }

  /** What the file system refused, in words: its exceptions often repeat the path alone. */
  public static UserErrorException cannot(String action, Path file, IOException e) {
    String reason = e.getMessage();
    if (e instanceof NoSuchFileException) {
      reason = "there is no such file or directory";
    } else if (e instanceof AccessDeniedException) {
      reason = "permission denied";
    } else if (e instanceof FileSystemException fileSystem && fileSystem.getReason() != null) {
      reason = fileSystem.getReason();
    }
    return new UserErrorException("cannot %s %s: %s".formatted(action, file, reason));
  }

  /**
   * The sentence for the user if {@code failure} was caused by a mistake of theirs, even when it
   * comes from a failed job, where Flink wraps and serializes what was thrown.
   */
  public static Optional<String> sentence(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UserErrorException) {
        return Optional.of(cause.getMessage());
      }
      if (cause instanceof SerializedThrowable serialized
          && serialized.getOriginalErrorClassName().equals(UserErrorException.class.getName())) {
        // Its message repeats the name of the class: "io.…UserErrorException: sentence".
        String message = serialized.getMessage();
        String prefix = UserErrorException.class.getName() + ": ";
        return Optional.of(
            message.startsWith(prefix) ? message.substring(prefix.length()) : message);
      }
    }
    return Optional.empty();
  }
}
