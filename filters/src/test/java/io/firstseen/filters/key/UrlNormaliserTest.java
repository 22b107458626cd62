package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;
import net.jqwik.api.statistics.StatisticsReport.StatisticsReportMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    "http:/\\example.com\\a?b\\c,                 http://example.com/a?b%5Cc",
    "http://[2001:DB8:0:0:0:0:0:1]:80/,         http://[2001:db8::1]/",
    "http://[::ffff:1.2.3.4]/,                  http://[::ffff:102:304]/",
    "http://0x7f.1/,                            http://127.0.0.1/",
    "http://faß.de/,                            http://xn--fa-hia.de/",
    "http://h%41/,                              http://ha/",
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
    "2001:db8::1,                    http://[2001:db8::1]/",
    "[::1]:8080/x,                   http://[::1]:8080/x",
    "example.com:8080/a?b=c:d@e#f,   http://example.com:8080/a?b=c:d@e",
    "example.com?go=http://other/,   http://example.com/?go=http://other/",
  })
  void aBareHostIsAnHttpUrl(String key, String expected) throws InvalidKeyException {
    assertThat(canonical(key)).isEqualTo(expected);
  }

  /** Complete error messages; the vectors contain the others. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          gopher://example.com/ | URL must start with ftp://, http://, https:// or a host, got 'gopher:'
          someone@example.com | 'someone@example.com' has an at sign and no scheme, as an e-mail address has
          mailto:a@example.com | 'mailto:a@example.com' has an at sign and no scheme, as an e-mail address has
          javascript:alert(1) | port must be a number in [0, 65535], got 'alert(1)'
          http:example.com | port must be a number in [0, 65535], got 'example.com'
          http://example.com:65536/ | port must be a number in [0, 65535], got '65536'
          /path | URL has no host
          http://user@/ | URL has no host
          https://:443/ | URL has no host
          http://./ | URL has no host
          http://../ | host '..' has an empty label
          two words | host 'two words' must not hold ' ' in its last label
          http://a%2Fb/ | host 'a%2Fb' must not hold '/' in its last label
          http://a%2541.b/ | host 'a%2541.b' must not hold '%'
          http://%ff/ | host '%ff' is not UTF-8: malformed at byte 0
          http://xn--ü.de/ | host 'xn--ü.de' mixes Punycode and other characters in a label
          http://1.2.3.256/ | host '1.2.3.256' ends in a number and is not an IPv4 address
          http://[::g]/ | host '[::g]' is not an IPv6 address
          """)
  void aRefusalSaysWhy(String key, String why) {
    assertThatThrownBy(() -> canonical(key))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessage(why);
  }

  @Test
  void aRefusalShowsAtMostFortyCharacters() {
    assertThatThrownBy(() -> canonical("http://" + "ä".repeat(39) + "\u0001\u200b./"))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll("'" + "ä".repeat(39) + "U+0001…'", "'U+0001'");
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
      throw new AssertionError(text + " became " + once + ", which is rejected", refused);
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
      assertThat(refused).hasMessageMatching("(?s)(URL|key|canonical key|host|port|') ?.*");
    }
  }

  @Provide
  Arbitrary<String> urlLikeTexts() {
    return UrlTexts.any();
  }
}
