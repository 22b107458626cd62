package io.firstseen.filters.snapshot;

import java.util.Base64;
import java.util.regex.Pattern;

/**
 * The signature in a manifest. This class does not verify it.
 *
 * @param key the first 8 bytes of the SHA-256 of the public key, as hexadecimal digits
 * @param value the 64 bytes of an Ed25519 signature in Base64, with padding
 */
public record ManifestSignature(String key, String value) {
  private static final Pattern KEY = Pattern.compile("[0-9a-f]{16}");
  static final int VALUE_BYTES = 64;

  /** Rejects values that do not have this form. */
  public ManifestSignature {
    if (!KEY.matcher(key).matches()) {
      throw new IllegalArgumentException(
          "key must be 16 lower-case hexadecimal digits, got '" + key + "'");
    }
    if (!isValue(value)) {
      throw new IllegalArgumentException(
          "value must be the Base64 form of 64 bytes, got '" + value + "'");
    }
  }

  /** Creates a signature from its bytes. */
  public static ManifestSignature of(String key, byte[] value) {
    return new ManifestSignature(key, Base64.getEncoder().encodeToString(value));
  }

  /** Returns the bytes of the signature. */
  public byte[] bytes() {
    return Base64.getDecoder().decode(value);
  }

  /**
   * Returns whether the text is the one canonical Base64 form. The decoder also accepts others, for
   * example without padding.
   */
  private static boolean isValue(String value) {
    try {
      byte[] bytes = Base64.getDecoder().decode(value);
      return bytes.length == VALUE_BYTES && Base64.getEncoder().encodeToString(bytes).equals(value);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
