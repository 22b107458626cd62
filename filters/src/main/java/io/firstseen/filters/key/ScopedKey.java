package io.firstseen.filters.key;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A scope (tenant) and a canonical key as one byte string, without ambiguity: different pairs give
 * different strings.
 *
 * <p>Without a scope (null or empty), and when the key does not start with the byte {@code FF}, the
 * joined form is the key itself. Otherwise it is {@code FF}, the length of the scope in bytes as
 * unsigned LEB128 in its shortest form, the scope, the key. No UTF-8 text starts with {@code FF},
 * so ordinary keys stay readable.
 */
public final class ScopedKey {
  private static final byte MARK = (byte) 0xFF;
  private static final byte[] NO_SCOPE = {};

  private ScopedKey() {}

  /**
   * Joins {@code scope} and {@code canonical}. May return {@code canonical} itself.
   *
   * @throws InvalidKeyException if the scope is longer than {@link Keys#MAX_KEY_BYTES}
   */
  public static byte[] join(byte @Nullable [] scope, byte[] canonical) throws InvalidKeyException {
    int scopeBytes = scope == null ? 0 : scope.length;
    if (scopeBytes == 0 && (canonical.length == 0 || canonical[0] != MARK)) {
      return canonical;
    }
    if (scopeBytes > Keys.MAX_KEY_BYTES) {
      throw new InvalidKeyException(
          "scope must be at most " + Keys.MAX_KEY_BYTES + " bytes, got " + scopeBytes);
    }
    int header = 2;
    for (int left = scopeBytes >>> 7; left != 0; left >>>= 7) {
      header++;
    }
    byte[] joined = new byte[header + scopeBytes + canonical.length];
    joined[0] = MARK;
    int left = scopeBytes;
    for (int at = 1; at < header; at++) {
      joined[at] = (byte) (at == header - 1 ? left : (left & 0x7F) | 0x80);
      left >>>= 7;
    }
    if (scopeBytes > 0) {
      System.arraycopy(scope, 0, joined, header, scopeBytes);
    }
    System.arraycopy(canonical, 0, joined, header + scopeBytes, canonical.length);
    return joined;
  }

  /**
   * Returns the scope of a joined key; empty if there is none.
   *
   * @throws IllegalArgumentException if {@code joined} is not a result of {@link #join}
   */
  public static byte[] scope(byte[] joined) {
    if (joined.length == 0 || joined[0] != MARK) {
      return NO_SCOPE;
    }
    int from = scopeStart(joined);
    return Arrays.copyOfRange(joined, from, from + scopeBytes(joined));
  }

  /**
   * Returns the canonical key of a joined key. May return {@code joined} itself.
   *
   * @throws IllegalArgumentException if {@code joined} is not a result of {@link #join}
   */
  public static byte[] key(byte[] joined) {
    if (joined.length == 0 || joined[0] != MARK) {
      return joined;
    }
    return Arrays.copyOfRange(joined, scopeStart(joined) + scopeBytes(joined), joined.length);
  }

  private static int scopeStart(byte[] joined) {
    int at = 1;
    while (at < joined.length && joined[at] < 0) {
      at++;
    }
    return at + 1;
  }

  /** Checks the whole form, so that only results of join are accepted. */
  private static int scopeBytes(byte[] joined) {
    int from = scopeStart(joined);
    if (from > joined.length || from > 4) {
      throw new IllegalArgumentException(
          "a joined key must hold its scope's length in 1 to 3 bytes after the mark FF");
    }
    int length = 0;
    for (int at = from - 1; at >= 1; at--) {
      length = (length << 7) | (joined[at] & 0x7F);
    }
    boolean shortest = from == 2 || joined[from - 1] != 0;
    boolean needed = length > 0 || (joined.length > from && joined[from] == MARK);
    if (!shortest || !needed || length > Keys.MAX_KEY_BYTES || length > joined.length - from) {
      throw new IllegalArgumentException(
          "a joined key must state its scope's length, at most "
              + Math.min(Keys.MAX_KEY_BYTES, joined.length - from)
              + ", in the shortest form, got "
              + length);
    }
    return length;
  }
}
