package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/** The rule {@code url} without its fast path: every key is parsed. */
final class WithoutFastPath {
  private WithoutFastPath() {}

  /** What {@link Canonicaliser#URL} must answer: the canonical form, or why there is none. */
  static String answer(byte[] key) {
    try {
      return new String(
          UrlNormaliser.normalise(
              Canonicaliser.decode(key, "key"), PercentEscapes.IN_BROWSER_QUERY),
          UTF_8);
    } catch (InvalidKeyException refused) {
      return refused.getMessage();
    }
  }

  /** Shows that the canonicaliser answers as without its fast path; returns the answer. */
  static String mustAgree(byte[] key) {
    String expected = answer(key);
    String text = new String(key, UTF_8);
    try {
      assertThat(new String(Canonicaliser.URL.canonicalise(key), UTF_8))
          .as(text)
          .isEqualTo(expected);
    } catch (InvalidKeyException refused) {
      assertThat(refused).as(text).hasMessage(expected);
    }
    return expected;
  }
}
