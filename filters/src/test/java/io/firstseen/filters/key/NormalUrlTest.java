package io.firstseen.filters.key;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;
import net.jqwik.api.statistics.StatisticsReport.StatisticsReportMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NormalUrlTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://s2audio.com.br/",
        "https://s-297878780.duckdns.org/a/B_c~d/e.html",
        "ftp://203.0.113.9:2121/",
        "http://xn--bcher-kva.de/%C3%BC%2F%25",
        "http://_dmarc.a-b.c:8080/x;y=1,2/@(a)*!$&'+",
        "http://h/a..b",
        "http://h/a.",
        "http://h/?a",
        "http://h/a/?a=1&a=0&b&c==/../?d&d=%26",
      })
  void normalUrlsAreRecognised(String url) throws InvalidKeyException {
    assertThat(NormalUrl.matches(url)).isTrue();
    assertThat(UrlNormaliser.once(url)).isEqualTo(url);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "h",
        "http://",
        "http:///",
        "http://h",
        "HTTP://h/",
        "gopher://h/",
        "http://H/",
        "http://.h/",
        "http://h./",
        "http://a..b/",
        "http://h:/",
        "http://h:80/",
        "https://h:443/",
        "ftp://h:21/",
        "http://h:080/",
        "http://h:123456/",
        "http://h:8x/",
        "http://u@h/",
        "http://ü/",
        "http://h%41/",
        "http://[::1]/",
        "http://h//",
        "http://h/.",
        "http://h/./a",
        "http://h/a./b",
        "http://h/../a",
        "http://h/ ",
        "http://h/ü",
        "http://h/%",
        "http://h/%4",
        "http://h/%41",
        "http://h/%c3",
        "http://h/%zz",
        "http://h/\\",
        "http://h/?",
        "http://h/?a=",
        "http://h/?a=&b=1",
        "http://h/?=1",
        "http://h/?&",
        "http://h/?a=1&",
        "http://h/?a=1&&b=2",
        "http://h/?b=1&a=2",
        "http://h/?a=%41",
        "http://h/?a= ",
        "http://h?a=1",
        "http://h/?a#b",
        "http://h/a#b",
        "http://h/\u0000",
      })
  void whatMayNotBeNormalIsLeftToTheNormaliser(String url) {
    assertThat(NormalUrl.matches(url)).isFalse();
  }

  /** Normal URLs with one character changed or put in: at the edge of what is recognised. */
  @Property(seed = "8", tries = 20_000)
  @StatisticsReport(StatisticsReportMode.OFF)
  void whatIsRecognisedTheNormaliserLeavesAsItIs(
      @ForAll("normalUrls") String normal,
      @ForAll @IntRange(max = 1_000) int place,
      @ForAll("anyCharacters") String character,
      @ForAll boolean replace)
      throws InvalidKeyException {
    int at = place % normal.length();
    String url = normal.substring(0, at) + character + normal.substring(at + (replace ? 1 : 0));
    boolean recognised = NormalUrl.matches(url);
    Statistics.collect(recognised);
    if (recognised) {
      assertThat(UrlNormaliser.once(url)).isEqualTo(url);
    }
    Statistics.coverage(
        coverage -> {
          coverage.check(true).percentage(p -> p > 10);
          coverage.check(false).percentage(p -> p > 10);
        });
  }

  @Provide
  Arbitrary<String> normalUrls() {
    Arbitrary<String> scheme = Arbitraries.of("http://", "https://", "ftp://");
    Arbitrary<String> host = Arbitraries.of("h", "a.b", "example.com", "1.2.3.4", "a_b.c-d", "-");
    Arbitrary<String> port = Arbitraries.of("", "", "", ":8080", ":1", ":99999", ":81", ":44");
    Arbitrary<String> path =
        Arbitraries.of("/a", "/%2F", "/%C3%BC", "/b.c", "/d..", "/~", "/-", "/;p=1", "/x:y@z")
            .list()
            .ofMaxSize(4)
            .map(parts -> String.join("", parts) + "/");
    Arbitrary<String> query =
        Arbitraries.of(
            "", "", "?a", "?a=1", "?a=1&a=0&b=/", "?A=?&a&b==%3D", "?_=../.", "?a&b&c=d&e");
    return Combinators.combine(scheme, host, port, path, query)
        .as((s, h, p, f, q) -> s + h + p + f + q);
  }

  @Provide
  Arbitrary<String> anyCharacters() {
    return Arbitraries.frequencyOf(
        Tuple.of(3, Arbitraries.chars().range(' ', '~').map(String::valueOf)),
        Tuple.of(2, Arbitraries.of("", ".", "/", ":", "%", "-", "_", "0", "a", "?", "&", "=")),
        Tuple.of(1, Arbitraries.of("\u0000", "\u007F", "ü", "。", "😀", "%41", "%2e")));
  }
}
