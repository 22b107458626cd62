package io.firstseen.jobs.options;

import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSettings;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The secret of the keyed hash. */
public class HashKeyOptions {
  private static final String NAME = "--" + DedupSettings.HASH_KEY_FILE;

  @Option(
      names = NAME,
      paramLabel = NamedHashKey.LABEL,
      description =
          DedupSettings.HASH_KEY_FILE_TEXT
              + ", or public for the public key (write ./public for a file of this name). Default: the environment variable "
              + NamedHashKey.VARIABLE
              + ", or else the public key, with a warning.")
  @Bound(Bound.By.STATE)
  private Path file;

  HashKeyOptions() {}

  /**
   * The hash with the key of the option, else of the environment variable, else with the fixed
   * public key ({@link KeyHash#isFixedKey()}).
   *
   * @throws UserErrorException if the key cannot be read
   */
  public KeyHash keyHash() {
    return named().read();
  }

  NamedHashKey named() {
    return new NamedHashKey(NAME, file);
  }

  /** The warning of a dedup job with a public key; empty if the key is secret. */
  public Optional<String> publicKeyWarning() {
    Optional<String> missing = missingKeyWarning();
    return missing.isPresent() || !keyHash().isFixedKey()
        ? missing
        : Optional.of(
            "the hash key is the public key: anyone who knows it can construct colliding keys");
  }

  /**
   * The warning of a snapshot job without a configured key; empty if a key is configured. A public
   * key may be intended.
   */
  public Optional<String> missingKeyWarning() {
    return file != null || !keyHash().isFixedKey()
        ? Optional.empty()
        : Optional.of(
            "no hash key is configured, so the public key is used: anyone who knows it can "
                + "construct colliding keys (set "
                + NAME
                + " or "
                + NamedHashKey.VARIABLE
                + ")");
  }
}
