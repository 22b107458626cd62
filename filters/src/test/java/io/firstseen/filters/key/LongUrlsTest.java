package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class LongUrlsTest {

  /** Each took seconds while it was quadratic. */
  @Test
  @Timeout(5)
  void longTextsTakeNoLongTime() {
    for (String text :
        List.of(
            "a" + " ".repeat(65_000) + "b",
            "a" + "\t#".repeat(32_000),
            "a.".repeat(32_000) + "com",
            "1.".repeat(32_000) + "/24",
            "a.com/" + "/*".repeat(32_000),
            "http://" + "!".repeat(21_000) + ".com/")) {
      for (int i = 0; i < 3; i++) {
        requireFormOrSentence(Canonicaliser.URL_EXPRESSION::canonicalise, text);
        requireFormOrSentence(url -> UrlExpressions.of(url).bytes(0), text);
      }
    }
  }

  private static void requireFormOrSentence(Canonicaliser.Fold rule, String text) {
    try {
      assertThat(rule.of(text.getBytes(UTF_8))).isNotEmpty();
    } catch (InvalidKeyException e) {
      assertThat(e).hasMessageMatching("(?s).{1,300}");
    }
  }
}
