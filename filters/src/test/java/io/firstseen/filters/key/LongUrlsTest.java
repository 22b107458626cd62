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
            "http://" + "!".repeat(21_000) + ".com/")) {
      for (int i = 0; i < 10; i++) {
        try {
          assertThat(UrlExpressions.of(text.getBytes(UTF_8)).count()).isPositive();
        } catch (InvalidKeyException e) {
          assertThat(e).hasMessageMatching("(?s).{1,300}");
        }
      }
    }
  }
}
