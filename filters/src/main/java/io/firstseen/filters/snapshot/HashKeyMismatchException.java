package io.firstseen.filters.snapshot;

import io.firstseen.filters.key.KeyHash;
import java.util.HexFormat;

/**
 * Thrown if a set is queried with a different hash or hash key from the one it was built with;
 * every result would be wrong.
 */
public final class HashKeyMismatchException extends SnapshotException {
  private static final long serialVersionUID = 1L;

  HashKeyMismatchException(SetParameters parameters, KeyHash keyHash) {
    super(
        "the set is hashed by %s, the configured hash is %s; configure the hash key that the publisher uses"
            .formatted(
                describe(parameters.hashAlgorithm(), parameters.keyCheck()),
                describe(keyHash.algorithm(), keyHash.keyCheck())));
  }

  private static String describe(KeyHash.Algorithm algorithm, long keyCheck) {
    return algorithm.id()
        + " with key check "
        + HexFormat.of().toHexDigits(keyCheck)
        + (KeyHash.isFixedKeyCheck(algorithm, keyCheck) ? " (the public key)" : "");
  }
}
