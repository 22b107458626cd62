package io.firstseen.filters.key;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * The rule that gives a key its canonical form, so that different spellings become one key. Every
 * rule is idempotent: the canonical form of a canonical form is itself. Stateless and safe for use
 * by many threads.
 *
 * <p>All rules refuse an empty key, and a key that is longer than {@link Keys#MAX_KEY_BYTES} before
 * or after canonicalisation.
 */
public enum Canonicaliser {
  /** Leaves the bytes unchanged; any bytes are allowed. */
  NONE("none") {
    @Override
    byte[] fold(byte[] key) {
      return key;
    }
  },

  /**
   * URLs, by {@link UrlNormaliser}. A URL that is canonical already is usually recognised in one
   * pass over its bytes.
   */
  URL("url") {
    @Override
    byte[] fold(byte[] key) throws InvalidKeyException {
      if (NormalUrl.matches(key)) {
        return key;
      }
      return NormalUrl.isHost(key)
          ? NormalUrl.withScheme(key)
          : UrlNormaliser.normalise(decode(key));
    }
  },

  /** Human text such as spam bodies, by {@link TextFolding}. */
  TEXT("text") {
    @Override
    byte[] fold(byte[] key) throws InvalidKeyException {
      return TextFolding.fold(decode(key)).getBytes(StandardCharsets.UTF_8);
    }
  };

  private final String id;

  Canonicaliser(String id) {
    this.id = id;
  }

  abstract byte[] fold(byte[] key) throws InvalidKeyException;

  /**
   * The canonical form of a key. May return the array it was given, so neither may be changed
   * afterwards.
   *
   * @param utf8 the key; UTF-8 for {@link #URL} and {@link #TEXT}, any bytes for {@link #NONE}
   * @throws InvalidKeyException if the key is empty, too long, not UTF-8, or has no canonical form
   */
  public byte[] canonicalise(byte[] utf8) throws InvalidKeyException {
    if (utf8.length == 0) {
      throw new InvalidKeyException("key is empty");
    }
    checkLength("key", utf8.length);
    byte[] canonical = fold(utf8);
    checkLength("canonical key", canonical.length);
    return canonical;
  }

  private static void checkLength(String what, int bytes) throws InvalidKeyException {
    if (bytes > Keys.MAX_KEY_BYTES) {
      throw new InvalidKeyException(
          what + " must be at most " + Keys.MAX_KEY_BYTES + " bytes, got " + bytes);
    }
  }

  /** The version of the rule. State and snapshots contain it, and another version is refused. */
  public int version() {
    return 1;
  }

  /** The name in options, manifests and state: {@code none}, {@code url} or {@code text}. */
  public String id() {
    return id;
  }

  /**
   * The canonicaliser called {@code id}.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Canonicaliser of(String id) {
    for (Canonicaliser canonicaliser : values()) {
      if (canonicaliser.id.equals(id)) {
        return canonicaliser;
      }
    }
    throw new IllegalArgumentException(
        "canonicaliser must be one of none, url, text, got '" + id + "'");
  }

  private static String decode(byte[] utf8) throws InvalidKeyException {
    ByteBuffer in = ByteBuffer.wrap(utf8);
    try {
      CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(in);
      return text.toString();
    } catch (CharacterCodingException e) {
      throw new InvalidKeyException("key is not UTF-8: malformed at byte " + in.position());
    }
  }
}
