package io.firstseen.cli.shared;

import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The public keys of trusted signatures. */
public final class TrustedKeyOptions {

  @Option(
      names = "--public-key",
      paramLabel = "FILE",
      description =
          "Public Ed25519 key in PEM format; may be repeated. Manifests without a signature"
              + " by one of them are rejected (default: signatures are not checked).")
  private List<Path> files = List.of();

  /** The keys, possibly none; a user error if a file does not contain a key. */
  public List<TrustedKey> keys() {
    List<TrustedKey> keys = new ArrayList<>();
    for (Path file : files) {
      try {
        keys.add(TrustedKey.read(file));
      } catch (NoSuchFileException e) {
        throw new UserErrorException("--public-key: " + file + " does not exist");
      } catch (IOException | IllegalArgumentException e) {
        throw new UserErrorException("--public-key: " + file + ": " + e.getMessage());
      }
    }
    return keys;
  }
}
