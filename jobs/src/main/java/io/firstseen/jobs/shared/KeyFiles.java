package io.firstseen.jobs.shared;

import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.util.function.FunctionWithException;

/** Reads the key files of options. */
public final class KeyFiles {

  private KeyFiles() {}

  /**
   * Reads the private key of {@code --signing-key}.
   *
   * @throws UserErrorException if the file cannot be read or does not contain such a key
   */
  public static SigningKey signingKey(Path file) {
    return read("signing-key", file, SigningKey::read);
  }

  /**
   * Reads a public key of {@code --public-key}.
   *
   * @throws UserErrorException if the file cannot be read or does not contain such a key
   */
  public static TrustedKey publicKey(Path file) {
    return read("public-key", file, TrustedKey::read);
  }

  private static <K> K read(
      String option, Path file, FunctionWithException<Path, K, IOException> reader) {
    try {
      return reader.apply(file);
    } catch (IOException e) {
      throw UserErrorException.cannot("read the " + option.replace('-', ' '), file, e);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--" + option + ": " + file + ": " + e.getMessage());
    }
  }
}
