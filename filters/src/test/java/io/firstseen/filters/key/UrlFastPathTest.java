package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;
import net.jqwik.api.statistics.StatisticsReport.StatisticsReportMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The fast path changes nothing but the time: the canonicaliser gives what parsing every key gives.
 */
class UrlFastPathTest {
  private static final boolean QUICK = Integer.getInteger("firstseen.scale", 1) == 1;

  /**
   * Texts of many characters are so much shorter in the quick tier, and again where parsed often.
   */
  private static final int SHORTER = QUICK ? 1 : 0;

  /** Bytes above ASCII are alike. */
  private static final int STEP_ABOVE_ASCII = QUICK ? 16 : 1;

  /** At even offsets, the quick tier edits with even bytes, and at odd offsets with odd ones. */
  private static final int STEP_IN_ASCII = QUICK ? 2 : 1;

  /** URLs in normal form that between them hold whatever the fast path looks at. */
  private static final List<String> NORMAL =
      List.of(
          "http://h/",
          "http://a.b-c_d.example/A/b.c/%2F%C3%BC/d..e;f=1,2",
          "https://xn--bcher-kva.de:8443/a/b?a=1&a=0&b&c==%3D/../?&d!=(e)",
          "ftp://203.0.113.9:2121/f~1/!$&'()*+,;=:@-._~");

  /** Every short text of some characters, between a start and an end. */
  private enum Texts {
    AUTHORITIES("http://", "aZ0.-_:@%ü[\\", "/", 5),
    NUMBERS("http://", "0125x.a", "/", 5),
    ADDRESSES("http://1.", "0256.", "/", 7),
    PORTS_OF_HTTP("http://h:", "08143/@", "/", 5),
    PORTS_OF_HTTPS("https://h:", "08143/@", "/", 5),
    PORTS_OF_FTP("ftp://h:", "01243/@", "/", 5),
    PATHS("http://h", "aZ./%2Ff5?#;\\ ", "", 5),
    QUERIES("http://h/?", "abB=&%3D/#'[", "", 5);

    private final String start;
    private final String characters;
    private final String end;
    private final int longest;

    Texts(String start, String characters, String end, int longest) {
      this.start = start;
      this.characters = characters;
      this.end = end;
      this.longest = longest - (characters.length() > 10 ? SHORTER : 0);
    }

    Stream<byte[]> urls() {
      return urls(longest);
    }

    Stream<byte[]> urls(int upTo) {
      return upTo(upTo, characters).map(middle -> (start + middle + end).getBytes(UTF_8));
    }
  }

  /** Every text of up to so many of the characters. */
  private static Stream<String> upTo(int longest, String characters) {
    if (longest == 0) {
      return Stream.of("");
    }
    Stream<String> longer =
        characters
            .chars()
            .mapToObj(Character::toString)
            .flatMap(first -> upTo(longest - 1, characters).map(rest -> first + rest));
    return Stream.concat(Stream.of(""), longer);
  }

  /** Normal URLs with any byte put in, or in the place of another, anywhere. */
  private static List<byte[]> singleEdits() {
    List<byte[]> edits = new ArrayList<>();
    for (String normal : NORMAL) {
      byte[] url = normal.getBytes(UTF_8);
      for (int at = 0; at <= url.length; at++) {
        for (int b = at % STEP_IN_ASCII; b < 256; b += b < 128 ? STEP_IN_ASCII : STEP_ABOVE_ASCII) {
          edits.add(edited(url, at, at, (byte) b));
          edits.add(edited(url, at, Math.min(at + 1, url.length), (byte) b));
        }
      }
    }
    return edits;
  }

  private static byte[] edited(byte[] url, int from, int to, byte... with) {
    byte[] edited = Arrays.copyOf(url, url.length - (to - from) + with.length);
    System.arraycopy(with, 0, edited, from, with.length);
    System.arraycopy(url, to, edited, from + with.length, url.length - to);
    return edited;
  }

  /** A URL that the recogniser takes for canonical and parsing it does not. */
  private static Optional<String> firstWronglyRecognised(
      Predicate<byte[]> recogniser, Stream<byte[]> urls) {
    return urls.filter(recogniser)
        .map(url -> new String(url, UTF_8))
        .filter(url -> !WithoutFastPath.answer(url.getBytes(UTF_8)).equals(url))
        .findFirst();
  }

  @ParameterizedTest
  @EnumSource
  void everyShortTextThatIsRecognisedIsCanonical(Texts texts) {
    assertThat(firstWronglyRecognised(NormalUrl::matches, texts.urls())).isEmpty();
    assertThat(texts.urls().filter(NormalUrl::matches).count())
        .as("recognised, or the test would show nothing")
        .isGreaterThan(QUICK ? 100 : 1_000);
  }

  @Test
  void everyShortTextWithoutASchemeIsAnsweredAsWithoutTheFastPath() {
    upTo(4, "aZ0.-_:8@%ü/ ")
        .filter(text -> !text.isEmpty())
        .map(text -> text.getBytes(UTF_8))
        .forEach(WithoutFastPath::mustAgree);
  }

  @Test
  void everySingleEditOfANormalUrlIsAnsweredAsWithoutTheFastPath() {
    assertThat(NORMAL).allMatch(url -> NormalUrl.matches(url.getBytes(UTF_8)));
    singleEdits().forEach(WithoutFastPath::mustAgree);
  }

  /** What {@link Canonicaliser#URL_EXPRESSION} answers, with its fast path or without. */
  private static String entry(byte[] line, boolean fast) {
    try {
      return fast
          ? new String(Canonicaliser.URL_EXPRESSION.canonicalise(line), UTF_8)
          : ExpressionRule.parsedEntry(Canonicaliser.decode(line, "key"), 2);
    } catch (InvalidKeyException refused) {
      return refused.getMessage();
    }
  }

  /** What {@link UrlExpressions} answers, with its fast path or without. */
  private static String visit(byte[] url, boolean fast) {
    try {
      return fast ? UrlExpressions.of(url).toString() : ExpressionRule.parsedVisit(url);
    } catch (InvalidKeyException refused) {
      return refused.getMessage();
    }
  }

  private static void expressionsMustAgree(byte[] key) {
    if (!entry(key, true).equals(entry(key, false))) {
      assertThat(entry(key, true)).isEqualTo(entry(key, false));
    }
    if (!visit(key, true).equals(visit(key, false))) {
      assertThat(visit(key, true)).isEqualTo(visit(key, false));
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyShortTextHasTheExpressionOfParsing(Texts texts) {
    texts.urls(texts.longest - SHORTER).forEach(UrlFastPathTest::expressionsMustAgree);
  }

  @Test
  void everySingleEditHasTheExpressionOfParsing() {
    singleEdits().forEach(UrlFastPathTest::expressionsMustAgree);
    singleEdits().stream()
        .map(url -> Arrays.copyOfRange(url, Math.min(url.length, 7), url.length))
        .filter(key -> key.length > 0)
        .forEach(UrlFastPathTest::expressionsMustAgree);
    for (String url : NORMAL) {
      byte[] key = visit(url.getBytes(UTF_8), true).getBytes(UTF_8);
      assertThat(NormalUrl.isExpression(key, 0)).as(url).isEqualTo(!url.contains("%"));
    }
  }

  @Test
  void everyShortLineHasTheEntryOfParsing() {
    List<String> starts = List.of("", "http://", "1.2.3.4/", "http://1.2.3.4/", "h/", "||", "[::]");
    for (String start : starts) {
      upTo(4, "a*.1/?^:")
          .map(rest -> (start + rest).getBytes(UTF_8))
          .filter(line -> line.length > 0)
          .forEach(UrlFastPathTest::expressionsMustAgree);
    }
  }

  /** Recognisers that forgive one thing that must not be forgiven. */
  private enum Forgiving {
    UPPER_CASE_IN_THE_HOST(Texts.AUTHORITIES, "Z", "a"),
    NON_ASCII_IN_THE_HOST(Texts.AUTHORITIES, "ü", "a"),
    NUMBER_AT_THE_END(Texts.NUMBERS, "[0-9]/", "a/"),
    HEXADECIMAL_NUMBER(Texts.NUMBERS, "0x", "a"),
    NUMBER_OVER_255(Texts.ADDRESSES, "256", "255"),
    THREE_NUMBERS(Texts.ADDRESSES, "1\\.(\\d)\\.(\\d)/", "1.1.$1.$2/"),
    USER_BEFORE_THE_HOST(Texts.AUTHORITIES, "//\\w+@", "//"),
    DOT_BEHIND_THE_HOST(Texts.AUTHORITIES, "\\./", "/"),
    NO_HOST(Texts.AUTHORITIES, "///", "//h/"),
    EMPTY_PORT(Texts.AUTHORITIES, ":/$", "/"),
    BRACKET_IN_THE_HOST(Texts.AUTHORITIES, "\\[", ""),
    BACKSLASH_IN_THE_HOST(Texts.AUTHORITIES, "\\\\", ""),
    OWN_PORT_OF_HTTP(Texts.PORTS_OF_HTTP, ":80/", "/"),
    ZEROS_BEFORE_THE_PORT(Texts.PORTS_OF_HTTP, ":0+", ":"),
    OWN_PORT_OF_HTTPS(Texts.PORTS_OF_HTTPS, ":443/", "/"),
    OWN_PORT_OF_FTP(Texts.PORTS_OF_FTP, ":21/", "/"),
    NO_PATH(Texts.PATHS, "$", "/"),
    DOUBLED_SLASH(Texts.PATHS, "([^:])//", "$1/"),
    DOT_SEGMENT(Texts.PATHS, "/\\.(/|$)", "/"),
    PARENT_SEGMENT(Texts.PATHS, "/\\.\\.(/|$)", "/"),
    LOWER_CASE_ESCAPE(Texts.PATHS, "%2f", "%2F"),
    NEEDLESS_ESCAPE(Texts.PATHS, "%5F", "_"),
    STRAY_PERCENT_SIGN(Texts.PATHS, "%$", ""),
    SPACE(Texts.PATHS, " ", ""),
    BACKSLASH(Texts.PATHS, "\\\\", ""),
    FRAGMENT(Texts.PATHS, "#.*", ""),
    EMPTY_QUERY(Texts.PATHS, "\\?$", ""),
    EMPTY_PARAMETER(Texts.QUERIES, "&&", "&"),
    EMPTY_LAST_PARAMETER(Texts.QUERIES, "&$", ""),
    EMPTY_NAME(Texts.QUERIES, "([?&])=", "$1"),
    EMPTY_VALUE(Texts.QUERIES, "=(&|$)", "$1"),
    PARAMETERS_OUT_OF_ORDER(Texts.QUERIES, "\\?b&a$", "?a&b"),
    BRACKET_IN_THE_QUERY(Texts.QUERIES, "\\[", "");

    private final Texts texts;
    private final String unforgivable;
    private final String forgiven;

    Forgiving(Texts texts, String unforgivable, String forgiven) {
      this.texts = texts;
      this.unforgivable = unforgivable;
      this.forgiven = forgiven;
    }

    boolean matches(byte[] url) {
      String lenient = new String(url, UTF_8).replaceFirst(unforgivable, forgiven);
      return NormalUrl.matches(lenient.getBytes(UTF_8));
    }
  }

  /** The control: each of them is found out. */
  @ParameterizedTest
  @EnumSource
  void aForgivingFastPathIsFoundOut(Forgiving forgiving) {
    assertThat(firstWronglyRecognised(forgiving::matches, forgiving.texts.urls())).isPresent();
  }

  @Property(seed = "8", tries = 20_000, edgeCases = EdgeCasesMode.NONE)
  @StatisticsReport(StatisticsReportMode.OFF)
  void nearlyCanonicalUrlsAreAnsweredAsWithoutTheFastPath(@ForAll("nearlyCanonical") byte[] url) {
    Statistics.collect(NormalUrl.matches(url));
    WithoutFastPath.mustAgree(url);
    Statistics.coverage(
        coverage -> {
          coverage.check(true).percentage(p -> p > 10);
          coverage.check(false).percentage(p -> p > 30);
        });
  }

  @Property(seed = "9", tries = 200, edgeCases = EdgeCasesMode.NONE)
  @StatisticsReport(StatisticsReportMode.OFF)
  void longUrlsAreAnsweredAsWithoutTheFastPath(
      @ForAll("normal") String url,
      @ForAll("parts") String part,
      @ForAll @IntRange(min = 100, max = 65_536) int length) {
    StringBuilder filling = new StringBuilder(url);
    filling.append(filling.indexOf("?") < 0 ? "/" : "&");
    while (filling.length() + part.length() <= length / 2) {
      filling.append(part);
    }
    byte[] longer = filling.toString().getBytes(UTF_8);
    Statistics.collect(NormalUrl.matches(longer));
    if (WithoutFastPath.answer(longer).length() <= Keys.MAX_KEY_BYTES) {
      WithoutFastPath.mustAgree(longer);
    }
    Statistics.coverage(coverage -> coverage.check(true).percentage(p -> p > 10));
  }

  @Provide
  Arbitrary<String> normal() {
    return Arbitraries.of(NORMAL);
  }

  /** A URL of parts that are normal or nearly so, with up to three edits. */
  @Provide
  Arbitrary<byte[]> nearlyCanonical() {
    Arbitrary<String> scheme =
        often("http://", "https://", "ftp://")
            .rarely(
                "HTTP://", "hTtps://", "http:/", "http:", "", "httpx://", "file://", " http://");
    Arbitrary<String> host =
        often("h", "a.b", "www.example.com", "1.2.3.4", "a_b.c-d", "-", "xn--bcher-kva.de", "1.2")
            .rarely(
                "",
                ".",
                "H.a",
                "a.",
                "a..b",
                "bücher.de",
                "ﬁ.ß",
                "a。b",
                "Kelvin.K",
                "İ",
                "[::1]",
                "[::1",
                "h%41",
                "h%2Fa",
                "u:p@h",
                "u@h",
                "\u200Ba",
                "ａ.b",
                "a\u00ADb",
                "xn--",
                "a".repeat(64) + ".b",
                "h\u0000",
                "h\\a");
    Arbitrary<String> port =
        often("", "", "", ":8080", ":1", ":99999", ":81", ":44")
            .rarely(
                ":",
                ":80",
                ":443",
                ":21",
                ":080",
                ":0",
                ":123456",
                ":2147483648",
                ":8x",
                ":-1",
                ":８０");
    Arbitrary<String> path = parts().list().ofMaxSize(5).map(parts -> String.join("", parts));
    Arbitrary<String> query =
        Arbitraries.oneOf(
            Arbitraries.just(""),
            often("a", "a=1", "b=2&c=3", "id=%3D", "q=a+b", "q=../.", "_=?", "a[]=1", "a;b")
                .rarely(
                    "",
                    "=",
                    "a=",
                    "=1",
                    "&",
                    "b&a",
                    "PHPSESSID=0123",
                    "sid=1&a=2",
                    "a=%3d",
                    "a=%41",
                    "ü=ü",
                    "a b",
                    "utm_source=x",
                    "a=1&a=0",
                    "B=1&a=2",
                    "a=1&B=2",
                    "%",
                    "a=%zz")
                .list()
                .ofMinSize(1)
                .ofMaxSize(4)
                .map(parameters -> "?" + String.join("&", parameters)));
    Arbitrary<String> fragment =
        often("", "", "", "", "").rarely("#", "#a", "#?a", ";jsessionid=1");
    Arbitrary<String> url =
        Combinators.combine(scheme, host, port, path, query, fragment)
            .as((s, h, p, f, q, r) -> s + h + p + "/" + f + q + r);
    return Combinators.combine(url, edits()).as(UrlFastPathTest::editedAtRandom);
  }

  @Provide
  Arbitrary<String> parts() {
    return often(
            "a", "b.c", "/d", "/e/", "%2F", "%C3%BC", "~", ";p=1", ":x", "@y", "d..", "-", "/_")
        .rarely(
            "//", "/.", "/..", "/./", "/../", "./", "...", "%2f", "%7E", "%2D", "%61", "%39", "%41",
            "%2E%2e", "%", "%4", "%zz", "%25", "%2541", "\\", "|", "^", "[", "]", "{", "`", "\"",
            "<", " ", "\t", "\r\n", "\u0000", "\u007F", "\u0080", "ü", "u\u0308", "。", "／",
            "\u2028", "😀", "\uFEFF");
  }

  /** Some edits, on every other URL none. */
  private static Arbitrary<List<Edit>> edits() {
    Arbitrary<String> put =
        Arbitraries.oneOf(
            Arbitraries.chars().range('\0', '\u00FF').map(String::valueOf),
            Arbitraries.chars().range(' ', '~').map(String::valueOf),
            Arbitraries.of(
                "", "/", ".", "%", "?", "&", "=", ":", "#", "%41", "%2e", "\u00C3\u00BC", "\\"));
    Arbitrary<Edit> edit =
        Combinators.combine(
                Arbitraries.integers().between(0, 200), Arbitraries.integers().between(0, 3), put)
            .as(Edit::new);
    return Arbitraries.oneOf(Arbitraries.just(List.<Edit>of()), edit.list().ofMaxSize(3));
  }

  /** Where to cut, how many bytes to take out, and, a character each, what to put in. */
  private record Edit(int place, int out, String in) {}

  private static byte[] editedAtRandom(String url, List<Edit> edits) {
    byte[] bytes = url.getBytes(UTF_8);
    for (Edit edit : edits) {
      int from = edit.place % (bytes.length + 1);
      bytes =
          edited(
              bytes, from, Math.min(bytes.length, from + edit.out), edit.in.getBytes(ISO_8859_1));
    }
    return bytes.length == 0 ? new byte[] {'/'} : bytes;
  }

  private static Often often(String... values) {
    return new Often(List.of(values));
  }

  /** Values of which nine in ten are of the first kind. */
  private record Often(List<String> frequent) {
    Arbitrary<String> rarely(String... rare) {
      return Arbitraries.integers()
          .between(0, 9)
          .flatMap(die -> Arbitraries.of(die == 0 ? List.of(rare) : frequent));
    }
  }
}
