package io.firstseen.jobs.options;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The hash key of an option: a file, or the public key.
 *
 * @param option its name, for messages
 * @param value its value; null if it is not given, and the key is in the environment variable or is
 *     the public key
 */
record NamedHashKey(String option, @Nullable Path value) {
  /** The environment variable of a key that no option names. */
  static final String VARIABLE = "FIRSTSEEN_HASH_KEY";

  static final String PUBLIC = "public";

  static final String LABEL = "FILE|" + PUBLIC;

  KeyHash read() {
    return read(System.getenv(VARIABLE));
  }

  KeyHash read(@Nullable String variableValue) {
    try {
      return place().read(variableValue);
    } catch (NoSuchFileException e) {
      throw new UserErrorException(option + ": " + value + " does not exist");
    } catch (AccessDeniedException e) {
      throw new UserErrorException(option + ": " + value + " cannot be read: permission denied");
    } catch (IOException | IllegalArgumentException e) {
      String origin = value != null ? option + ": " + value : VARIABLE;
      throw new UserErrorException(origin + ": " + e.getMessage());
    }
  }

  /** The source of the hash: the job, or a file or variable of every task's machine. */
  KeyHashSource source(boolean onWorkers) {
    return onWorkers ? KeyHashSource.onWorkers(read(), place()) : KeyHashSource.inJob(read());
  }

  private Place place() {
    boolean isFile = value != null && !value.toString().equals(PUBLIC);
    return new Place(isFile ? value.toAbsolutePath().toString() : value == null ? null : PUBLIC);
  }

  /** The absolute path of a file, or {@link #PUBLIC}; null for the environment. */
  private record Place(@Nullable String name) implements KeyHashSource.Reader {
    @Override
    public KeyHash read() throws IOException {
      return read(System.getenv(VARIABLE));
    }

    private KeyHash read(@Nullable String variableValue) throws IOException {
      if (name != null) {
        return name.equals(PUBLIC)
            ? KeyHash.fixed()
            : KeyHash.fromFile(KeyHashSource.requireNoDirectory(Path.of(name)));
      }
      return variableValue == null || variableValue.isEmpty()
          ? KeyHash.fixed()
          : KeyHash.parse(variableValue.strip());
    }

    @Override
    public String toString() {
      return name == null ? VARIABLE : name;
    }
  }
}
