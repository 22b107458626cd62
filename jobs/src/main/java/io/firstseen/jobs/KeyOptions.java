package io.firstseen.jobs;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Which spellings are one key, and under which secret keys are hashed. */
public final class KeyOptions {
  /** The environment variable that holds the hash key. */
  public static final String HASH_KEY_VARIABLE = "FIRSTSEEN_HASH_KEY";

  @Option(
      names = "--canonicaliser",
      paramLabel = "NAME",
      defaultValue = "none",
      converter = OptionValues.CanonicaliserName.class,
      description =
          "Which spellings are one key: none (bytes as they are), url, or text"
              + " (default: ${DEFAULT-VALUE}).")
  private Canonicaliser canonicaliser;

  @Option(
      names = "--hash-key-file",
      paramLabel = "FILE",
      description =
          "A file with the secret key of the hash, 32 hexadecimal digits. Without it the"
              + " environment variable "
              + HASH_KEY_VARIABLE
              + " holds the key, or else a public key is used, with a warning.")
  private Path hashKeyFile;

  KeyOptions() {}

  /** Which spellings are one key. */
  public Canonicaliser canonicaliser() {
    return canonicaliser;
  }

  /**
   * The hash under the key of the file, else of the environment variable, else under the fixed,
   * public one ({@link KeyHash#isFixedKey()}).
   *
   * @throws UserErrorException if the key cannot be read
   */
  public KeyHash keyHash() {
    return keyHash(System.getenv(HASH_KEY_VARIABLE));
  }

  KeyHash keyHash(String variableValue) {
    if (hashKeyFile != null) {
      try {
        return KeyHash.fromFile(hashKeyFile);
      } catch (NoSuchFileException e) {
        throw new UserErrorException("--hash-key-file: " + hashKeyFile + " does not exist");
      } catch (IOException | IllegalArgumentException e) {
        throw new UserErrorException("--hash-key-file: " + hashKeyFile + ": " + e.getMessage());
      }
    }
    if (variableValue != null && !variableValue.isEmpty()) {
      try {
        return KeyHash.parse(variableValue.strip());
      } catch (IllegalArgumentException e) {
        throw new UserErrorException(HASH_KEY_VARIABLE + ": " + e.getMessage());
      }
    }
    return KeyHash.fixed();
  }

  /** The sentence for a user who runs under the fixed key. */
  public static String fixedKeyWarning() {
    return "no hash key is configured, so a public one is used: whoever knows it can make keys that"
        + " collide (set --hash-key-file or "
        + HASH_KEY_VARIABLE
        + ")";
  }
}
