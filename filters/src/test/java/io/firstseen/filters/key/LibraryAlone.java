package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.regex.Pattern;

/** The rule {@code url} without its fast path: whatever it is given, crawler-commons decides. */
final class LibraryAlone {
  private static final Pattern WITH_HOST = Pattern.compile("[a-z]+://[^/?#@:].*", Pattern.DOTALL);

  private LibraryAlone() {}

  /** What {@link Canonicaliser#URL} must answer: the canonical form, or why there is none. */
  static String answer(byte[] key) {
    String current;
    try {
      current = UTF_8.newDecoder().decode(ByteBuffer.wrap(key)).toString();
    } catch (CharacterCodingException e) {
      return "key is not UTF-8";
    }
    try {
      current = UrlNormaliser.withScheme(current.trim());
      for (int round = 0; round < UrlNormaliser.MAX_ROUNDS; round++) {
        String next = UrlNormaliser.once(current);
        if (next.equals(current)) {
          return WITH_HOST.matcher(next).matches() ? next : "URL has no host";
        }
        current = next;
      }
      return "URL still changes";
    } catch (InvalidKeyException refused) {
      return refused.getMessage();
    }
  }

  /** Shows that the canonicaliser answers as the library alone; returns the answer. */
  static String mustAgree(byte[] key) {
    String expected = answer(key);
    String text = new String(key, UTF_8);
    try {
      assertThat(new String(Canonicaliser.URL.canonicalise(key), UTF_8))
          .as(text)
          .isEqualTo(expected);
    } catch (InvalidKeyException refused) {
      assertThat(refused).as(text).hasMessageStartingWith(expected);
    }
    return expected;
  }
}
