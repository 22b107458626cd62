package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Long texts take time in proportion to their length. Each took seconds while it was quadratic, or
 * overflowed the stack.
 */
class LongUrlsTest {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int LONGER = 8;

  /** A small part of what a quadratic rule took. */
  private static final long SPARE_NANOS = Duration.ofMillis(50).toNanos();

  /**
   * A long text.
   *
   * @param start what it begins with
   * @param part what is repeated
   * @param end what it ends with
   * @param parts how often
   */
  record Text(String start, String part, String end, int parts) {
    String of(int times) {
      return start + part.repeat(times) + end;
    }
  }

  static Stream<Text> texts() {
    return Stream.of(
        new Text("a", " ", "b", 65_000),
        new Text("a", "\t#", "", 32_000),
        new Text("", "a.", "com", 32_000),
        new Text("", "1.", "/24", 32_000),
        new Text("a.com/", "/*", "", 32_000),
        new Text("http://", "!", ".com/", 21_000),
        new Text("a.com/$", "script,", "script", 9_000),
        new Text("a.com/", "$to=", ",x", 16_000),
        new Text("", "view-source:", "a.com", 150_000));
  }

  @ParameterizedTest
  @MethodSource("texts")
  void takeNoMoreThanInProportion(Text text) {
    requireInProportion(text, Canonicaliser.URL_EXPRESSION::canonicalise);
    requireInProportion(text, url -> UrlExpressions.of(url).bytes(0));
  }

  /** Processor time, which hardly depends on other programs; twice as much is in proportion. */
  private static void requireInProportion(Text text, Rule rule) {
    long ofLong = nanos(text.of(text.parts()), rule);
    long ofShort = nanos(text.of(text.parts() / LONGER), rule);
    assertThat(ofLong).isLessThan(2 * LONGER * ofShort + SPARE_NANOS);
  }

  /** The least of a few rounds. */
  private static long nanos(String text, Rule rule) {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      long before = THREADS.getCurrentThreadCpuTime();
      requireFormOrSentence(rule, text);
      least = Math.min(least, THREADS.getCurrentThreadCpuTime() - before);
    }
    return least;
  }

  private interface Rule {
    byte[] of(byte[] key) throws InvalidKeyException;
  }

  private static void requireFormOrSentence(Rule rule, String text) {
    try {
      assertThat(rule.of(text.getBytes(UTF_8))).isNotEmpty();
    } catch (InvalidKeyException e) {
      assertThat(e).hasMessageMatching("(?s).{1,300}");
    }
  }

  /** The control. */
  @Tag("slow")
  @Test
  void aQuadraticRuleIsFoundOut() {
    assertThatThrownBy(
            () ->
                requireInProportion(
                    new Text("", "aaaa", "", 26_000),
                    bytes -> {
                      for (String left = new String(bytes, UTF_8); left.length() > 1; ) {
                        left = left.substring(1);
                      }
                      return bytes;
                    }))
        .isInstanceOf(AssertionError.class);
  }
}
