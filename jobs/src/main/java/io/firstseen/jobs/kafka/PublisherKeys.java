package io.firstseen.jobs.kafka;

import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.shared.KeyFiles;
import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The keys that a publisher trusts: if there are any, only manifests on the topic that one of them
 * signed count, and claims do not. Without keys all manifests and claims count.
 *
 * @param signingKeyFile the file of the key that the job signs with; null if it does not sign
 * @param publicKeys further trusted public keys in PEM
 */
record PublisherKeys(@Nullable String signingKeyFile, List<String> publicKeys)
    implements Serializable {
  private static final long serialVersionUID = 1;

  PublisherKeys {
    publicKeys = List.copyOf(publicKeys);
  }

  /**
   * The keys of a job. Reads the public keys.
   *
   * @param signingKey the file of the key that the job signs with; empty if it does not sign
   * @param publicKeys files of further trusted public keys
   * @throws UserErrorException if one of them cannot be read, or the job does not sign
   */
  static PublisherKeys of(Optional<Path> signingKey, List<Path> publicKeys) {
    if (signingKey.isEmpty() && !publicKeys.isEmpty()) {
      throw new UserErrorException(
          "--public-key needs --signing-key: a job that trusts signed manifests only must sign its"
              + " own");
    }
    return new PublisherKeys(
        signingKey.map(Path::toAbsolutePath).map(Path::toString).orElse(null),
        publicKeys.stream().map(file -> KeyFiles.publicKey(file).toPem()).toList());
  }

  /**
   * The trusted keys; empty if the job does not sign. Reads the signing key, which must be on this
   * machine.
   *
   * @throws UserErrorException if it cannot be read
   */
  List<TrustedKey> read() {
    List<TrustedKey> keys = new ArrayList<>();
    publicKeys.forEach(pem -> keys.add(TrustedKey.parse(pem)));
    if (signingKeyFile != null) {
      keys.add(KeyFiles.signingKey(Path.of(signingKeyFile)).publicKey());
    }
    return keys;
  }

  /**
   * The trusted keys that are known where the job is submitted: the signing key need only be on the
   * TaskManagers.
   *
   * @throws UserErrorException if the job signs and no key is known here
   */
  List<TrustedKey> readForTakeOver() {
    if (signingKeyFile == null || Files.exists(Path.of(signingKeyFile))) {
      return read();
    }
    if (publicKeys.isEmpty()) {
      throw new UserErrorException(
          "--take-over counts signed manifests only, and the signing key %s is not on this machine:"
                  .formatted(signingKeyFile)
              + " give its public key with --public-key");
    }
    return new PublisherKeys(null, publicKeys).read();
  }
}
