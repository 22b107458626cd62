package io.firstseen.jobs.options;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.operators.KeyHashSource;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The secret of the keyed hash. */
public final class HashKeyOptions {
  /** The environment variable that holds the hash key. */
  public static final String VARIABLE = "FIRSTSEEN_HASH_KEY";

  @Option(
      names = "--hash-key-file",
      paramLabel = "FILE",
      description =
          "A file with the secret key of the hash, 32 hexadecimal digits. Without it the"
              + " environment variable "
              + VARIABLE
              + " holds the key, or else a public key is used, with a warning.")
  private Path file;

  HashKeyOptions() {}

  /**
   * The hash with the key from the file, else from the environment variable, else with the fixed
   * public key ({@link KeyHash#isFixedKey()}).
   *
   * @throws UserErrorException if the key cannot be read
   */
  public KeyHash keyHash() {
    return keyHash(System.getenv(VARIABLE));
  }

  KeyHash keyHash(String variableValue) {
    try {
      return place().read(variableValue);
    } catch (NoSuchFileException e) {
      throw new UserErrorException("--hash-key-file: " + file + " does not exist");
    } catch (AccessDeniedException e) {
      throw new UserErrorException("--hash-key-file: " + file + " must not be read");
    } catch (IOException | IllegalArgumentException e) {
      String option = file == null ? VARIABLE : "--hash-key-file: " + file;
      throw new UserErrorException(option + ": " + e.getMessage());
    }
  }

  /** The same hash, which every task reads on its own machine. */
  KeyHashSource onWorkers() {
    return KeyHashSource.onWorkers(keyHash(), place());
  }

  private Place place() {
    return new Place(file == null ? null : file.toAbsolutePath().toString());
  }

  /** Where the key is: in a file, or without one in the environment. */
  private record Place(@Nullable String file) implements KeyHashSource.Reader {
    private static final long serialVersionUID = 1;

    @Override
    public KeyHash read() throws IOException {
      return read(System.getenv(VARIABLE));
    }

    private KeyHash read(@Nullable String variableValue) throws IOException {
      if (file != null) {
        return KeyHash.fromFile(Path.of(file));
      }
      return variableValue == null || variableValue.isEmpty()
          ? KeyHash.fixed()
          : KeyHash.parse(variableValue.strip());
    }

    @Override
    public String toString() {
      return file == null ? VARIABLE : file;
    }
  }

  /** The warning for a user of the fixed key. */
  public static String fixedKeyWarning() {
    return "no hash key is configured, so a public one is used: whoever knows it can make keys that"
        + " collide (set --hash-key-file or "
        + VARIABLE
        + ")";
  }
}
