package io.firstseen.filters.snapshot;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** SHA-256 digests in the form that names blobs and sets: 64 lower-case hexadecimal digits. */
public final class Sha256 {
  private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

  private Sha256() {}

  /** Returns the digest of an array. */
  public static String hex(byte[] bytes) {
    return hex(ByteBuffer.wrap(bytes));
  }

  /**
   * Returns the digest of the remaining bytes of a buffer; the buffer's position does not change.
   */
  public static String hex(ByteBuffer bytes) {
    MessageDigest digest = newDigest();
    digest.update(bytes.duplicate());
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Returns whether a text has the form of a digest. */
  public static boolean isHex(String text) {
    return HEX.matcher(text).matches();
  }

  static String require(String name, String digest) {
    if (!isHex(digest)) {
      throw new IllegalArgumentException(
          name + " must be 64 lower-case hexadecimal digits, got '" + digest + "'");
    }
    return digest;
  }

  static MessageDigest newDigest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}
