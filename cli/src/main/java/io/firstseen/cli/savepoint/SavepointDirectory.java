package io.firstseen.cli.savepoint;

import io.firstseen.embedded.FlinkPath;
import io.firstseen.operators.IncompatibleStateException;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSavepoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.SerializedThrowable;

/** Paths of savepoints, and errors about them. */
public final class SavepointDirectory {
  private static final String METADATA = "_metadata";

  private SavepointDirectory() {}

  /** Returns a savepoint's directory as a path of Flink; throws if its metadata is unreadable. */
  public static String require(Path directory) {
    if (!Files.exists(directory)) {
      throw new UserErrorException(directory + " does not exist");
    }
    if (!Files.isRegularFile(directory.resolve(METADATA))) {
      throw new UserErrorException(
          directory + " is neither a savepoint nor a checkpoint: it does not contain _metadata");
    }
    String path = FlinkPath.of(directory.toAbsolutePath().normalize());
    try {
      var unused = DedupSavepoint.operatorStates(path);
    } catch (IOException e) {
      throw cannot("read", directory, e);
    }
    return path;
  }

  /** The error that an action on a savepoint failed, with its reason. */
  public static UserErrorException cannot(String action, Path directory, Throwable e) {
    return new UserErrorException("cannot %s %s: %s".formatted(action, directory, reason(e)));
  }

  private static String reason(Throwable e) {
    Throwable deepest = UserErrorException.lastCause(e);
    if (deepest.getMessage() == null) {
      return deepest.getClass().getSimpleName();
    }
    // A message that was received over the network starts with the exception's class name.
    return deepest.getMessage().replaceFirst("^[\\w.$]+(?:Exception|Error): ", "");
  }

  /** Whether the dedup rejected the state. */
  public static boolean isRefusal(Throwable e) {
    String refusal = IncompatibleStateException.class.getName();
    return ExceptionUtils.findThrowable(
            e,
            cause ->
                refusal.equals(
                    cause instanceof SerializedThrowable serialized
                        ? serialized.getOriginalErrorClassName()
                        : cause.getClass().getName()))
        .isPresent();
  }
}
