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
 * A hash key as an option names it: by its file, as the public one, or not, see {@link #isGiven}.
 */
final class NamedHashKey {
  /** The environment variable of a key that no option names. */
  static final String VARIABLE = "FIRSTSEEN_HASH_KEY";

  /** The value of an option that stands for {@link KeyHash#fixed()}. */
  static final String PUBLIC = "public";

  /** The label of such an option's value. */
  static final String LABEL = "FILE|" + PUBLIC;

  private final String option;
  private final @Nullable Path value;

  /**
   * The key that an option names.
   *
   * @param option its name, for messages
   * @param value its value; null if it is not given
   */
  NamedHashKey(String option, @Nullable Path value) {
    this.option = option;
    this.value = value;
  }

  /**
   * Whether the option is given. Otherwise the environment has the key, or it is the public one.
   */
  boolean isGiven() {
    return value != null;
  }

  KeyHash read() {
    return read(System.getenv(VARIABLE));
  }

  /**
   * The hash with the key.
   *
   * @param variableValue the value of the environment variable; null if it is not set
   * @throws UserErrorException if the key cannot be read
   */
  KeyHash read(@Nullable String variableValue) {
    try {
      return place().read(variableValue);
    } catch (NoSuchFileException e) {
      throw new UserErrorException(option + ": " + value + " does not exist");
    } catch (AccessDeniedException e) {
      throw new UserErrorException(option + ": " + value + " cannot be read: permission denied");
    } catch (IOException | IllegalArgumentException e) {
      String origin = isGiven() ? option + ": " + value : VARIABLE;
      throw new UserErrorException(origin + ": " + e.getMessage());
    }
  }

  /** The hash, which goes with the job, or which every task reads on its own machine. */
  KeyHashSource source(boolean onWorkers) {
    return onWorkers ? KeyHashSource.onWorkers(read(), place()) : KeyHashSource.inJob(read());
  }

  private Place place() {
    if (value == null) {
      return new Place(null);
    }
    return new Place(isPublic() ? PUBLIC : value.toAbsolutePath().toString());
  }

  private boolean isPublic() {
    return value != null && value.toString().equals(PUBLIC);
  }

  /**
   * Where the key is.
   *
   * @param name the absolute path of a file, or {@link #PUBLIC}; null for the environment
   */
  private record Place(@Nullable String name) implements KeyHashSource.Reader {
    private static final long serialVersionUID = 1;

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
