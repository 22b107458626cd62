package io.firstseen.jobs.shared;

import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;

/** Reads the key files of options. */
public final class KeyFiles {

  private KeyFiles() {}

  /**
   * Reads the private key of {@code --signing-key}.
   *
   * @throws UserErrorException if the file cannot be read or does not contain such a key
   */
  public static SigningKey signingKey(Path file) {
    try {
      return SigningKey.read(file);
    } catch (IOException e) {
      throw UserErrorException.cannot("read the signing key", file, e);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--signing-key: " + file + ": " + e.getMessage());
    }
  }

  /**
   * Reads a public key of {@code --public-key}.
   *
   * @throws UserErrorException if the file cannot be read or does not contain such a key
   */
  public static TrustedKey publicKey(Path file) {
    try {
      return TrustedKey.read(file);
    } catch (IOException e) {
      throw UserErrorException.cannot("read the public key", file, e);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--public-key: " + file + ": " + e.getMessage());
    }
  }
}
