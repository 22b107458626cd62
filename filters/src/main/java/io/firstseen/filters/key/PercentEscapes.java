package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;

/** Percent-escapes (RFC 3986, sections 2.1 and 6.2.2). */
final class PercentEscapes {
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  private static final String HEX = "0123456789ABCDEF";

  /** RFC 3986's unreserved characters: an escape of one means the same as the character. */
  static final Characters UNRESERVED = new Characters(LETTERS + "0123456789-._~");

  /** Characters that a path may contain unescaped: RFC 3986's pchar and the slash. */
  static final Characters IN_PATH = UNRESERVED.and("!$&'()*+,;=:@/");

  /** Characters that a query may contain unescaped. */
  static final Characters IN_QUERY = IN_PATH.and("?");

  /** Characters that browsers send unescaped in a query (WHATWG URL, section 1.3). */
  static final Characters IN_BROWSER_QUERY = IN_QUERY.without("'");

  private PercentEscapes() {}

  static final class Characters {
    private final String all;
    private final boolean[] has = new boolean[128];

    private Characters(String all) {
      this.all = all;
      all.chars().forEach(c -> has[c] = true);
    }

    Characters and(String more) {
      return new Characters(all + more);
    }

    Characters without(String less) {
      return new Characters(all.replaceAll("[" + less + "]", ""));
    }

    boolean has(int b) {
      return b < 128 && has[b];
    }
  }

  /**
   * Returns the normalised form of each byte: the literal character, or an escape with upper-case
   * digits. A percent sign that does not start an escape is escaped.
   *
   * @param literal the characters that may appear unescaped
   * @param unescaped the characters whose escapes become the character
   */
  static String normalised(String text, Characters literal, Characters unescaped) {
    byte[] bytes = text.getBytes(UTF_8);
    StringBuilder out = new StringBuilder(bytes.length);
    for (int at = 0; at < bytes.length; at++) {
      int b = bytes[at] & 0xFF;
      Characters allowed = literal;
      int escaped = escapeAt(bytes, at);
      if (escaped >= 0) {
        b = escaped;
        allowed = unescaped;
        at += 2;
      }
      if (allowed.has(b)) {
        out.append((char) b);
      } else {
        out.append('%').append(HEX.charAt(b >> 4)).append(HEX.charAt(b & 0xF));
      }
    }
    return out.toString();
  }

  /** Decodes bytes as UTF-8; invalid bytes become escapes. */
  static String utf8OrEscapes(byte[] bytes) {
    CharsetDecoder decoder = UTF_8.newDecoder();
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(3 * bytes.length);
    for (CoderResult result = decoder.decode(in, out, true);
        result.isMalformed();
        result = decoder.decode(in, out, true)) {
      for (int i = 0; i < result.length(); i++) {
        int b = in.get() & 0xFF;
        out.put('%').put(HEX.charAt(b >> 4)).put(HEX.charAt(b & 0xF));
      }
    }
    return out.flip().toString();
  }

  /** Returns the bytes of {@code text} with every escape decoded once. */
  static byte[] decode(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length);
    for (int at = 0; at < bytes.length; at++) {
      int escaped = escapeAt(bytes, at);
      if (escaped >= 0) {
        out.write(escaped);
        at += 2;
      } else {
        out.write(bytes[at]);
      }
    }
    return out.toByteArray();
  }

  /** Returns the value of the escape at {@code at}; -1 if there is no escape. */
  private static int escapeAt(byte[] bytes, int at) {
    if (bytes[at] != '%' || at + 2 >= bytes.length) {
      return -1;
    }
    int high = Character.digit(bytes[at + 1], 16);
    int low = Character.digit(bytes[at + 2], 16);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }
}
