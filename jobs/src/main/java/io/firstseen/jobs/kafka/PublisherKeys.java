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
 * The keys that a publisher trusts. With keys, only manifests signed by one of them are considered,
 * and claims are ignored. Without keys, all manifests and claims are considered.
 *
 * @param signingKeyFile the file of the key that signs manifests; null if the job does not sign
 * @param publicKeys further trusted public keys in PEM
 */
record PublisherKeys(@Nullable String signingKeyFile, List<String> publicKeys)
    implements Serializable {
  PublisherKeys {
    publicKeys = List.copyOf(publicKeys);
  }

  /** Reads the public keys, which only a job that signs manifests may have. */
  static PublisherKeys of(Optional<Path> signingKey, List<Path> publicKeys) {
    if (signingKey.isEmpty() && !publicKeys.isEmpty()) {
      throw new UserErrorException(
          "--public-key needs --signing-key: a job that only trusts signed manifests must sign "
              + "its own manifests");
    }
    return new PublisherKeys(
        signingKey.map(Path::toAbsolutePath).map(Path::toString).orElse(null),
        publicKeys.stream().map(file -> KeyFiles.publicKey(file).toPem()).toList());
  }

  /** The trusted keys; empty if the job does not sign. Reads the signing key on this machine. */
  List<TrustedKey> read() {
    List<TrustedKey> keys = new ArrayList<>();
    publicKeys.forEach(pem -> keys.add(TrustedKey.parse(pem)));
    if (signingKeyFile != null) {
      keys.add(KeyFiles.signingKey(Path.of(signingKeyFile)).publicKey());
    }
    return keys;
  }

  /** The trusted keys where the job is submitted; the signing key may only be on TaskManagers. */
  List<TrustedKey> readForTakeOver() {
    if (signingKeyFile == null || Files.exists(Path.of(signingKeyFile))) {
      return read();
    }
    if (publicKeys.isEmpty()) {
      throw new UserErrorException(
          "--take-over with a signing key only considers signed manifests, and the signing key %s is not on this machine:"
                  .formatted(signingKeyFile)
              + " give its public key with --public-key");
    }
    return new PublisherKeys(null, publicKeys).read();
  }
}
