package io.firstseen.jobs.options;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.UserErrorException;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The secret of the keyed hash. */
public final class HashKeyOptions {
  private static final String NAME = "--hash-key-file";

  @Option(
      names = NAME,
      paramLabel = NamedHashKey.LABEL,
      description =
          "A file with the secret key of the hash, 32 hexadecimal digits, or public for the public"
              + " key (a file of this name is ./public). Without it the environment variable "
              + NamedHashKey.VARIABLE
              + " holds the key, or else the public key is used, with a warning.")
  @Bound(Bound.By.STATE)
  private Path file;

  HashKeyOptions() {}

  /**
   * The hash with the key that the option names, else with that of the environment variable, else
   * with the fixed public key ({@link KeyHash#isFixedKey()}).
   *
   * @throws UserErrorException if the key cannot be read
   */
  public KeyHash keyHash() {
    return named().read();
  }

  KeyHash keyHash(String variableValue) {
    return named().read(variableValue);
  }

  KeyHashSource source(boolean onWorkers) {
    return named().source(onWorkers);
  }

  private NamedHashKey named() {
    return new NamedHashKey(NAME, file);
  }

  /** The warning of a dedup, whose key must be secret; empty if it is. */
  public Optional<String> publicKeyWarning() {
    Optional<String> missing = missingKeyWarning();
    return missing.isPresent() || !keyHash().isFixedKey()
        ? missing
        : Optional.of(
            "the hash key is the public one: whoever knows it can make keys that collide");
  }

  /** The warning of snapshots, whose key may be public on purpose; empty if a key is configured. */
  public Optional<String> missingKeyWarning() {
    return named().isGiven() || !keyHash().isFixedKey()
        ? Optional.empty()
        : Optional.of(
            "no hash key is configured, so a public one is used: whoever knows it can make keys"
                + " that collide (set "
                + NAME
                + " or "
                + NamedHashKey.VARIABLE
                + ")");
  }
}
