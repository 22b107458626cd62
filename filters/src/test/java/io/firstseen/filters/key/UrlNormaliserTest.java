package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;
import net.jqwik.api.statistics.StatisticsReport.StatisticsReportMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UrlNormaliserTest {
  private static String canonical(String url) throws InvalidKeyException {
    return new String(Canonicaliser.URL.canonicalise(url.getBytes(UTF_8)), UTF_8);
  }

  /**
   * One line a promise of the class comment; the right side is on the topic and must not change.
   */
  @ParameterizedTest
  @CsvSource({
    "HTTP://Example.COM,                        http://example.com/",
    "http://example.com:80/,                    http://example.com/",
    "https://example.com:443/,                  https://example.com/",
    "https://example.com:80/,                   https://example.com:80/",
    "ftp://example.com:21/f,                    ftp://example.com/f",
    "http://example.com./,                      http://example.com/",
    "http://user:word@example.com/,             http://example.com/",
    "http://example.com/a#part,                 http://example.com/a",
    "http://example.com/a/./b/../c//d,          http://example.com/a/c/d",
    "http://example.com/../../a,                http://example.com/a",
    "http://example.com/%2e%2e/%41%2f%c3%bc,    http://example.com/A%2F%C3%BC",
    "http://example.com/ü b,                    http://example.com/%C3%BC%20b",
    "http://example.com/100%,                   http://example.com/100%25",
    "http://example.com/?b=2&a=3&a=1&&,         http://example.com/?a=3&a=1&b=2",
    "http://example.com/?PHPSESSID=1,           http://example.com/?PHPSESSID=1",
    "http://example.com/a?,                     http://example.com/a",
    "http://Bücher.de/,                         http://xn--bcher-kva.de/",
    "http://xn--bcher-kva.de/,                  http://xn--bcher-kva.de/",
    "http://127.0.0.1:8080/x,                   http://127.0.0.1:8080/x",
    "'  http://example.com/  ',                 http://example.com/",
  })
  void spellingsMeet(String url, String expected) throws InvalidKeyException {
    assertThat(canonical(url)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "s2audio.com.br,                 http://s2audio.com.br/",
    "S-297878780.DuckDNS.org.,       http://s-297878780.duckdns.org/",
    "bücher.de,                      http://xn--bcher-kva.de/",
    "_dmarc.example.com,             http://_dmarc.example.com/",
    "203.0.113.9,                    http://203.0.113.9/",
    "localhost,                      http://localhost/",
    "example.com:8080/a?b=c:d@e#f,   http://example.com:8080/a?b=c:d@e",
    "example.com?go=http://other/,   http://example.com/?go=http://other/",
  })
  void aBareHostIsAnHttpUrl(String key, String expected) throws InvalidKeyException {
    assertThat(canonical(key)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mailto:someone@example.com",
        "someone@example.com",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "jar:file:/x!/y",
        "gopher://example.com/",
        "http:example.com",
        "http:/example.com",
        "//example.com/",
        "/path",
        "?query",
        "-",
        "..",
        " ",
        "\uFEFFhttp://example.com/",
        "\u00A0http://example.com/",
      })
  void whatIsNeitherAWebUrlNorAHostIsInvalid(String key) {
    assertThatThrownBy(() -> canonical(key))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessage("URL must start with http://, https://, ftp:// or a host");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://",
        "http:// /",
        "two words",
        "http://[::1]/",
        "http://example.com:80:80/",
        "http://example.com:port/",
        "http://a%/",
        "http://a%20b/",
      })
  void whatTheNormaliserRefusesIsInvalid(String url) {
    assertThatThrownBy(() -> canonical(url))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessage("URL is malformed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"http:///path", "http://../", "https://:443/", "http://user@/"})
  void aUrlWithoutAHostIsInvalid(String url) {
    assertThatThrownBy(() -> canonical(url))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageMatching("URL has no host|URL is malformed");
  }

  @Test
  void aSecondPassIsMadeWhereOneIsNotStable() throws InvalidKeyException {
    // The control: the library alone does need more than one pass.
    assertThat(UrlNormaliser.once("http://h%2541/")).isEqualTo("http://h%41/");
    assertThat(UrlNormaliser.once("http://h%41/")).isEqualTo("http://ha/");
    assertThat(canonical("http://h%2541/")).isEqualTo("http://ha/");
  }

  @Test
  void aUrlThatDoesNotSettleIsInvalid() throws InvalidKeyException {
    assertThat(canonical("http://h%" + "25".repeat(5) + "41/")).isEqualTo("http://ha/");
    assertThatThrownBy(() -> canonical("http://h%" + "25".repeat(20) + "41/"))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessage("URL still changes after 8 rounds of normalising");
  }

  @Property(seed = "4", tries = 5_000)
  @StatisticsReport(StatisticsReportMode.OFF)
  void theCanonicalFormOfACanonicalFormIsItself(@ForAll("urlLikeTexts") String text) {
    String once;
    try {
      once = canonical(text);
    } catch (InvalidKeyException refused) {
      Statistics.collect("refused");
      return;
    }
    Statistics.collect("accepted");
    try {
      assertThat(canonical(once)).isEqualTo(once);
    } catch (InvalidKeyException refused) {
      throw new AssertionError(text + " became " + once + ", and that is refused", refused);
    }
    Statistics.coverage(
        coverage -> {
          coverage.check("accepted").percentage(p -> p > 20);
          coverage.check("refused").percentage(p -> p > 5);
        });
  }

  @Property(seed = "5", tries = 2_000)
  void anyTextIsAcceptedOrRefusedAndNeverChokesUs(@ForAll String text) {
    try {
      assertThat(Canonicaliser.URL.canonicalise(text.getBytes(UTF_8))).isNotEmpty();
    } catch (InvalidKeyException refused) {
      assertThat(refused).hasMessageMatching("(URL|key|canonical key) .*");
    }
  }

  @Provide
  Arbitrary<String> urlLikeTexts() {
    Arbitrary<String> start =
        Arbitraries.of("http://", "http://", "HTTPS://", "ftp://", "", "", "", "//", "x:");
    Arbitrary<String> host =
        Arbitraries.of(
            "example.com",
            "EXAMPLE.com.",
            "h",
            "h%41",
            "h%2541",
            "h%252541",
            "a..b",
            "..",
            "-",
            "ü",
            "xn--",
            "xn--bcher-kva.de",
            "ﬁ.ß",
            "1.2.3.4",
            "[::1]",
            "a_b",
            "h%2Fb",
            "h%40b",
            "h%3Fb",
            "h%23b",
            "h%3A80",
            "\u200b",
            "ＡＢＣ",
            "。",
            "İ",
            "u:p@h");
    Arbitrary<String> port =
        Arbitraries.of("", "", "", ":", ":80", ":443", ":080", ":0", ":99999", ":x");
    Arbitrary<String> rest =
        Arbitraries.of(
                "/", "//", "/.", "/..", "/...", "/./", "/../", "a", "B", "%", "%2", "%2e", "%2E%2e",
                "%2f", "%25", "%2541", "%zz", "?", "&", "=", "a=1", "b", ";", "#", " ", "ü",
                "\u0000", "\t", "\\", "[", "]", "|", "^", "'", "\"", "+", "@", ":", "😀", "\ud800")
            .list()
            .ofMaxSize(10)
            .map(parts -> String.join("", parts));
    Arbitrary<String> mark = Arbitraries.of("/", "/", "/", "?", "#", "");
    return Combinators.combine(start, host, port, mark, rest)
        .as((s, h, p, m, r) -> s + h + p + m + r);
  }
}
