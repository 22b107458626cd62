package io.firstseen.cli.shared;

import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The keys whose signatures are trusted. */
public final class TrustedKeyOptions {

  @Option(
      names = "--public-key",
      paramLabel = "FILE",
      description =
          "A public Ed25519 key in PEM; may be repeated. Manifests that none of them has signed are"
              + " refused (default: signatures are not checked).")
  private List<Path> files = List.of();

  /**
   * The keys; empty if none was given.
   *
   * @throws UserErrorException if a file does not hold a key
   */
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
