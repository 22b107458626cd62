package io.firstseen.jobs.options;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
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
    if (file != null) {
      try {
        return KeyHash.fromFile(file);
      } catch (NoSuchFileException e) {
        throw new UserErrorException("--hash-key-file: " + file + " does not exist");
      } catch (AccessDeniedException e) {
        throw new UserErrorException("--hash-key-file: " + file + " must not be read");
      } catch (IOException | IllegalArgumentException e) {
        throw new UserErrorException("--hash-key-file: " + file + ": " + e.getMessage());
      }
    }
    if (variableValue != null && !variableValue.isEmpty()) {
      try {
        return KeyHash.parse(variableValue.strip());
      } catch (IllegalArgumentException e) {
        throw new UserErrorException(VARIABLE + ": " + e.getMessage());
      }
    }
    return KeyHash.fixed();
  }

  /** The warning for a user of the fixed key. */
  public static String fixedKeyWarning() {
    return "no hash key is configured, so a public one is used: whoever knows it can make keys that"
        + " collide (set --hash-key-file or "
        + VARIABLE
        + ")";
  }
}
