package io.firstseen.jobs.options;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.operators.KeyHashSource;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How keys are canonicalised, and the secret of their hash. */
public final class KeyOptions {

  @Option(
      names = "--canonicaliser",
      paramLabel = "NAME",
      defaultValue = "none",
      converter = OptionValues.CanonicaliserName.class,
      description =
          "Which spellings are one key: none (bytes as they are), url, or text"
              + " (default: ${DEFAULT-VALUE}).")
  private Canonicaliser canonicaliser;

  @Mixin private HashKeyOptions hashKey;

  KeyOptions() {}

  /** The rule that makes different spellings one key. */
  public Canonicaliser canonicaliser() {
    return canonicaliser;
  }

  /** Like {@link HashKeyOptions#keyHash()}. */
  public KeyHash keyHash() {
    return hashKey.keyHash();
  }

  KeyHashSource onWorkers() {
    return hashKey.onWorkers();
  }

  KeyHash keyHash(String variableValue) {
    return hashKey.keyHash(variableValue);
  }
}
