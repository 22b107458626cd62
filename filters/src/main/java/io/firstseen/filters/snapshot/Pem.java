package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The textual encoding of keys (RFC 7468), as openssl reads and writes it. */
final class Pem {
  private static final int LINE_CHARS = 64;

  private Pem() {}

  static String write(String label, byte[] der) {
    String body = Base64.getMimeEncoder(LINE_CHARS, "\n".getBytes(US_ASCII)).encodeToString(der);
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(label, body, label);
  }

  /**
   * Returns the bytes of the first block with this label; other text is ignored.
   *
   * @throws IllegalArgumentException if there is no such block; the message contains no part of the
   *     text
   */
  static byte[] read(String label, String text) {
    Matcher matcher =
        Pattern.compile(
                "-----BEGIN %s-----([A-Za-z0-9+/=\\s]*)-----END %s-----".formatted(label, label))
            .matcher(text);
    if (!matcher.find()) {
      throw new IllegalArgumentException(
          "a key must be between '-----BEGIN %s-----' and '-----END %s-----'"
              .formatted(label, label));
    }
    try {
      return Base64.getDecoder().decode(matcher.group(1).replaceAll("\\s", ""));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("a key must be in Base64", e);
    }
  }
}
