package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.statistics.Statistics;
import net.jqwik.api.statistics.StatisticsReport;
import net.jqwik.api.statistics.StatisticsReport.StatisticsReportMode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UrlExpressionsTest {
  private static final int VISITS = Math.min(10, 3 * Integer.getInteger("firstseen.scale", 1));
  private static final List<String> SCHEMES =
      List.of(
          "http://", "https://", "HTTPS://", "ftp://", "wss://", "", "http:\\\\", "http://u:p@");
  private static final List<String> PORTS = List.of("", "", "", ":", ":80", ":443", ":8443", ":1");
  private static final List<String> PATHS =
      List.of("", "/", "/login", "/a/b/c/d/e.html", "//x/../", "/%2e%2e/%41", "\\a", "/ü", "#top");
  private static final List<String> QUERIES =
      List.of("", "", "?", "?q=a/b", "?q=%2F#x", "?a=http://b/");
  private static final List<String> SUBDOMAINS =
      List.of("", "", "www.", "WWW.", "a-b.", "x$y.", "*.", "%77ww.", "ü.");

  private static List<String> realHosts;

  private static List<String> expressions(String url) {
    try {
      return UrlExpressions.of(url.getBytes(UTF_8)).asList();
    } catch (InvalidKeyException e) {
      throw new AssertionError(url, e);
    }
  }

  private static String entry(String key) {
    try {
      return new String(Canonicaliser.URL_EXPRESSION.canonicalise(key.getBytes(UTF_8)), UTF_8);
    } catch (InvalidKeyException e) {
      throw new AssertionError(key, e);
    }
  }

  private static <T> T any(SplittableRandom random, List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  private static String respelled(SplittableRandom random, String host) {
    int at = random.nextInt(host.length());
    return switch (random.nextInt(5)) {
      case 0 -> host.toUpperCase(Locale.ROOT);
      case 1 -> host + ".";
      case 2 ->
          host.substring(0, at)
              + "%"
              + Integer.toHexString(host.charAt(at))
              + host.substring(at + 1);
      default -> host;
    };
  }

  /** A visit that the page says a listed host answers for. */
  private static String visit(SplittableRandom random, String host) {
    String port = any(random, PORTS);
    boolean own = port.equals(":8443") || port.equals(":1");
    int registrable = labels(host) < 0 ? -1 : PublicSuffixes.bundled().registrableStart(host);
    boolean below = registrable >= 0;
    String scheme = any(random, SCHEMES);
    String subdomain = below ? any(random, SUBDOMAINS) : "";
    // A text without a scheme has neither an empty port nor a star in its host.
    boolean bare = scheme.isEmpty();
    return scheme
        + (bare && subdomain.equals("*.") ? "" : subdomain)
        + respelled(random, host)
        + (bare && port.equals(":") ? "" : port)
        + any(random, PATHS)
        + any(random, QUERIES);
  }

  /** The labels that end with a dot; -1 for an address. */
  private static int labels(String host) {
    return IpLiterals.endsInNumber(host) ? -1 : (int) host.chars().filter(c -> c == '.').count();
  }

  @BeforeAll
  static void readRealHosts() throws IOException {
    List<String> hosts = new ArrayList<>();
    for (var stream : RealUrlsTest.streams()) {
      hosts.addAll(RealUrlsTest.keysOf(stream));
    }
    realHosts =
        hosts.stream()
            .map(UrlExpressionsTest::entry)
            .filter(entry -> entry.endsWith("/"))
            .map(entry -> entry.substring(0, entry.length() - 1))
            .toList();
  }

  /**
   * Returns a URL of a real host that is not found on a list with the host if only such expressions
   * are looked up.
   */
  private static List<String> missed(List<String> hosts, Predicate<String> asked) {
    SplittableRandom random = new SplittableRandom(24);
    List<String> missed = new ArrayList<>();
    for (String host : hosts) {
      for (int i = 0; i < VISITS; i++) {
        String visit = visit(random, host);
        if (expressions(visit).stream().filter(asked).noneMatch((host + "/")::equals)) {
          missed.add(host + " by " + visit);
        }
      }
    }
    return missed;
  }

  @Test
  void everyRealHostAnswersForItsVisits() {
    assertThat(missed(realHosts, expression -> true)).isEmpty();
  }

  /** Controls: with a rule that loses something, visits are missed. */
  @Test
  void aLostPrefixOrSuffixIsFoundOut() {
    List<String> hosts = realHosts.subList(0, 500);
    assertThat(missed(hosts, expression -> !expression.endsWith("/"))).isNotEmpty();
    assertThat(missed(hosts, expression -> expression.indexOf('.') != expression.lastIndexOf('.')))
        .as("suffixes down to three labels only")
        .isNotEmpty();
  }

  @Test
  void whatIsBesideTheListIsNotOnIt() {
    Set<String> listed = new HashSet<>();
    realHosts.forEach(host -> listed.add(host + "/"));
    assertThat(listed).hasSizeGreaterThan(10_000);
    SplittableRandom random = new SplittableRandom(25);
    for (String host : realHosts) {
      int start = labels(host) < 0 ? -1 : PublicSuffixes.bundled().registrableStart(host);
      if (start >= 0) {
        String beside = host.substring(0, start) + "beside-" + host.substring(start);
        assertThat(expressions(visit(random, beside))).noneMatch(listed::contains);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "example.com, https://example.com/, true",
    "example.com, http://a.b.c.example.com:8080/d?e, true",
    "example.com, http://example.com.evil.example/, false",
    "example.com, http://badexample.com/, false",
    "example.com, http://example.org/example.com/, false",
    "www.example.com, http://example.com/, false",
    "*.example.com, http://example.com/, true",
    "http://example.com/, https://www.example.com/a, true",
    "example.com/*, http://www.example.com/a/b?c, true",
    "http://*.example.com/*, http://example.com/a, true",
    "example.com/a/*, http://example.com/a/b, true",
    "example.com/a/*, http://example.com/a/*, true",
    "example.com/a/*, http://example.com/b, false",
    "http://example.com/?to=*|X|*, http://example.com/?to=*|X|*, true",
    "http://example.com/?to=*|X|*, http://example.com/?to=y, false",
    "http://192.0.2.1/5, http://192.0.2.1/5?x, true",
    "http://192.0.2.1/5, http://192.0.2.1/6, false",
    "example.com/a, example.com/a##b, true",
    "example.com/a/, http://example.com/a/, true",
    "example.com/a/, http://example.com/a/b/c?d, true",
    "example.com/a/, http://www.example.com/a/b, true",
    "example.com/a/, http://example.com/a, false",
    "example.com/a/, http://example.com/ab, false",
    "example.com/a/, http://example.com/A/, false",
    "example.com/a/b/c/, http://example.com/a/b/c/d/e/f, true",
    "example.com/a/b/c/d/, http://example.com/a/b/c/d/?x, true",
    "example.com/a/b/c/d/, http://example.com/a/b/c/d/e, true",
    "https://example.com/a, http://example.com/a?b, true",
    "https://example.com/a, http://example.com/a/b, false",
    "example.com/a?b, http://example.com/a?b#c, true",
    "example.com/a?b, http://example.com/a, false",
    "example.com/a?b, http://example.com/a?b&c, false",
    "example.com:8080, http://example.com:8080/a, true",
    "example.com:8080, http://example.com/a, false",
    "example.com:8080, http://www.example.com:8080/, false",
    "203.0.113.9, http://203.0.113.9:81/a, true",
    "http://113.9, http://203.0.113.9/, false",
    "[2001:db8::1], http://[2001:DB8:0::1]:81/a, true",
    "github.io, http://a.github.io/, true",
    "co.uk, http://co.uk/a, true",
    "co.uk, http://a.co.uk/, false",
    "a.b.c.example.com, http://x.y.a.b.c.example.com/, true",
    "a.b.c.d.example.com, http://a.b.c.d.example.com/x, true",
    "a.b.c.d.example.com, http://x.a.b.c.d.example.com/, true",
    "a.b.example.com, http://x.a.b.example.com:81/, true",
    "a.b.c.example.com, http://x.a.b.c.example.com:81/, true",
  })
  void anEntryListsWhatItNames(String entry, String visit, boolean listed) {
    assertThat(expressions(visit).contains(entry(entry))).isEqualTo(listed);
  }

  @Property(seed = "15", tries = 10_000)
  @StatisticsReport(StatisticsReportMode.OFF)
  void expressionsAreCanonicalFormsFromTheMostSpecificOn(@ForAll("texts") String text) {
    UrlExpressions expressions;
    try {
      expressions = UrlExpressions.of(text.getBytes(UTF_8));
    } catch (InvalidKeyException refused) {
      Statistics.collect("refused");
      return;
    }
    Statistics.collect("accepted");
    List<String> all = expressions.asList();
    assertThat(all)
        .hasSize(expressions.count())
        .hasSizeBetween(1, UrlExpressions.MAX_HOSTS * 18)
        .doesNotHaveDuplicates();
    assertThat(all.get(0)).isEqualTo(expressions.toString());
    for (String form : all) {
      assertThat(expressions(form).get(0)).as(text).isEqualTo(form);
      assertThat(again(form)).as(text).isEqualTo(form);
      boolean directory = form.endsWith("/*") && form.indexOf('?') < 0;
      assertThat(entry("http://" + form))
          .as(text)
          .isEqualTo(directory ? form.substring(0, form.length() - 1) : form);
    }
    Statistics.coverage(
        coverage -> {
          coverage.check("accepted").percentage(p -> p > 20);
          coverage.check("refused").percentage(p -> p > 5);
        });
  }

  /** Refused are forms of entries that mean more as lines. */
  @Property(seed = "16", tries = 10_000)
  @StatisticsReport(StatisticsReportMode.OFF)
  void noFormOfAnEntryHasAnotherForm(@ForAll("texts") String text) throws InvalidKeyException {
    String form = formOrNull(text);
    if (form == null) {
      Statistics.collect("refused");
      return;
    }
    assertThat(entry("http://" + form)).as(text).isEqualTo(form);
    assertThat(expressions(form).get(0)).as(text).isEqualTo(form);
    assertThat(again(form)).as(text).isEqualTo(form);
    String asLine = formOrNull(form);
    Statistics.collect(asLine == null ? "only with a scheme" : "as it is");
    if (asLine != null) {
      assertThat(asLine).as(text).isEqualTo(form);
    }
    Statistics.coverage(
        coverage -> {
          coverage.check("as it is").percentage(p -> p > 20);
          coverage.check("only with a scheme").percentage(p -> p > 0.5);
          coverage.check("refused").percentage(p -> p > 5);
        });
  }

  private static @Nullable String formOrNull(String line) {
    try {
      return new String(Canonicaliser.URL_EXPRESSION.canonicalise(line.getBytes(UTF_8)), UTF_8);
    } catch (InvalidKeyException refused) {
      return null;
    }
  }

  private static String again(String form) {
    try {
      return new String(
          Canonicaliser.URL_EXPRESSION.canonicaliseAgain(form.getBytes(UTF_8)), UTF_8);
    } catch (InvalidKeyException e) {
      throw new AssertionError(form, e);
    }
  }

  @Provide
  Arbitrary<String> texts() {
    return UrlTexts.any();
  }

  @Test
  void hashesAreThoseOfKeysOfASet() throws InvalidKeyException {
    KeyHash hash = KeyHash.fixed();
    byte[] scope = "tenant".getBytes(UTF_8);
    UrlExpressions one = UrlExpressions.of("http://a.example.com:81/b/c?d".getBytes(UTF_8));
    UrlExpressions other = UrlExpressions.of("example.com".getBytes(UTF_8));
    long[] hashes = new long[1 + one.count() + other.count() + 1];
    int end = other.hash(null, hash, hashes, one.hash(scope, hash, hashes, 1));
    assertThat(end).isEqualTo(1 + one.count() + other.count());
    long[] expected = new long[hashes.length];
    for (int i = 0; i < one.count(); i++) {
      expected[1 + i] = hash.hash(ScopedKey.join(scope, one.bytes(i)));
    }
    expected[1 + one.count()] = hash.hash("example.com/".getBytes(UTF_8));
    assertThat(hashes).isEqualTo(expected);
  }

  @Test
  void anIndexOutOfBoundsIsRefused() throws InvalidKeyException {
    UrlExpressions one = UrlExpressions.of("http://a.example.com:81/b".getBytes(UTF_8));
    IntStream.of(-1, one.count())
        .forEach(
            index ->
                assertThatThrownBy(() -> one.bytes(index))
                    .isInstanceOf(IndexOutOfBoundsException.class));
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      textBlock =
          """
          ! c => '! c'; comment
          @@||a.b^ => '@@||a.b^'; exception
          a.b##.ad => 'a.b##.ad'; cosmetic filter
          ||a.b^$important,script => Adblock filter; options; 'script'
          ||a.b => Adblock filter; ||host^; ||host/directory/; '||a.b'
          1.2.3.4 a.b => hosts-file line; 0.0.0.0, 127.0.0.1, :: or ::1; '1.2.3.4'
          0.0.0.0 a.b c.d => hosts-file line; one host; got 2
          ::1 localhost => hosts-file line; domain; 'localhost'
          a*.b => 'a*.b'; without a scheme; '*'
          http://a.*.b/ => 'a.*.b'; pattern; list the domain
          a.b/*.js => 'a.b/*.js'; pattern; directory; http://
          1.2.3.0/24 # x => '1.2.3.0/24'; range of addresses; one by one; http://
          a.b c => 'a.b c'; more than one column; %20
          http://a.b/c d => 'http://a.b/c d'; more than one column; %20
          b\\.com => 'b\\.com'; pattern or a regular expression; list the host; http://
          .a.b. => '.a.b.'; pattern or a regular expression; list the host; http://
          a.b/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/* => directory; at most 15 segments; got 16
          ::/0 => '::/0'; range of addresses; one by one; http://
          hxxp://a.b/ => ftp://, http://, https://, ws://, wss:// or a host; 'hxxp:'
          """)
  void aRefusedEntrySaysWhy(String line, String facts) {
    assertThatThrownBy(() -> Canonicaliser.URL_EXPRESSION.canonicalise(line.getBytes(UTF_8)))
        .isInstanceOf(InvalidKeyException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @Test
  void nothingIsHashedOverTheEnd() {
    assertThatThrownBy(
            () ->
                UrlExpressions.of("a.b/c".getBytes(UTF_8))
                    .hash(null, KeyHash.fixed(), new long[1], 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
