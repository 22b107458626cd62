package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.UrlAnswer.Match;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class UrlListTest {
  private static final KeyHash PUBLIC = KeyHash.fixed();
  private static final KeyHash SECRET = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
  private static final double RATE = 0x1p-20;

  private static UrlList list(String name, KeyHash keyHash, String... entries) throws Exception {
    return UrlList.of(
        set(name, keyHash, Canonicaliser.URL_EXPRESSION, RATE, List.of(entries)), keyHash);
  }

  private static SnapshotSet set(
      String name, KeyHash keyHash, Canonicaliser canonicaliser, double rate, List<String> entries)
      throws Exception {
    SetParameters parameters = SetParameters.of(keyHash, canonicaliser, new Shards(4), rate);
    List<Long> hashes = new ArrayList<>();
    for (String entry : entries) {
      hashes.add(parameters.hash(null, entry.getBytes(UTF_8), keyHash));
    }
    PublishedSet published = new PublishedSet(name, parameters);
    return SnapshotSet.open(published.window(1, hashes), published);
  }

  private static UrlExpressions url(String url) {
    try {
      return UrlExpressions.of(url.getBytes(UTF_8));
    } catch (InvalidKeyException e) {
      throw new AssertionError(url, e);
    }
  }

  @Test
  void theMostSpecificEntryAnswers() throws Exception {
    UrlList list = list("spam", PUBLIC, "example.com", "example.com/a/", "b.example.com:81");
    assertThat(list.match(null, url("https://www.example.com/x?y"))).contains("example.com/");
    assertThat(list.match(null, url("https://www.example.com/a/b"))).contains("example.com/a/");
    assertThat(list.match(null, url("b.example.com:81/a/"))).contains("b.example.com:81/");
    assertThat(list.match(null, url("http://example.org/"))).isEmpty();
    assertThat(list.match("tenant".getBytes(UTF_8), url("http://example.com/"))).isEmpty();
  }

  @Test
  void everyListAnswersByItsNameAndAnAllowSetOverrides() throws Exception {
    UrlLists lists =
        new UrlLists(
            List.of(
                list("spam", PUBLIC, "example.com/a"),
                list("phishing", SECRET, "example.com", "example.net"),
                list("empty", PUBLIC)),
            List.of(list("ours", SECRET, "ok.example.com", "example.net/ok/")));
    List<UrlAnswer> answers =
        lists.askEach(
            null,
            List.of(
                url("http://example.com/a"),
                url("http://a.ok.example.com/a"),
                url("http://ok.example.org/"),
                url("https://example.net/ok/"),
                url("https://example.net/")));
    assertThat(answers)
        .containsExactly(
            new UrlAnswer(
                List.of(new Match("spam", "example.com/a"), new Match("phishing", "example.com/")),
                List.of()),
            new UrlAnswer(
                List.of(new Match("spam", "example.com/a"), new Match("phishing", "example.com/")),
                List.of(new Match("ours", "ok.example.com/"))),
            new UrlAnswer(List.of(), List.of()),
            new UrlAnswer(
                List.of(new Match("phishing", "example.net/")),
                List.of(new Match("ours", "example.net/ok/"))),
            new UrlAnswer(List.of(new Match("phishing", "example.net/")), List.of()));
    assertThat(answers.stream().map(UrlAnswer::isPresent))
        .containsExactly(true, false, false, false, true);
  }

  /** More URLs than are looked up at once, with different numbers of expressions. */
  @Test
  void manyAtOnceAreAnsweredAsOneByOne() throws Exception {
    List<String> entries =
        IntStream.range(0, 500)
            .filter(i -> i % 3 == 0)
            .mapToObj(i -> "h" + i + ".example")
            .toList();
    UrlList list = list("spam", PUBLIC, entries.toArray(String[]::new));
    List<UrlExpressions> urls =
        IntStream.range(0, 500)
            .mapToObj(i -> url("https://a.h%d.example:%d/b/%d/?c".formatted(i, 80 + i % 2, i)))
            .toList();
    List<UrlAnswer> answers = new UrlLists(List.of(list), List.of()).askEach(null, urls);
    for (int i = 0; i < urls.size(); i++) {
      List<Match> expected =
          i % 3 == 0 ? List.of(new Match("spam", "h" + i + ".example/")) : List.of();
      assertThat(answers.get(i).matches()).as("URL %d", i).isEqualTo(expected);
      assertThat(list.match(null, urls.get(i)).isPresent()).isEqualTo(i % 3 == 0);
    }
  }

  /** Compares the measured rate of queries with 6 and with 30 expressions with the stated rate. */
  @Test
  void theRateOfAQuestionIsWithinTheStatedOne() throws Exception {
    double rate = 0.001;
    List<String> entries = IntStream.range(0, 20_000).mapToObj(i -> "h" + i + ".example").toList();
    UrlList list =
        UrlList.of(set("spam", PUBLIC, Canonicaliser.URL_EXPRESSION, rate, entries), PUBLIC);
    UrlLists lists = new UrlLists(List.of(list), List.of());
    for (String form :
        List.of("http://a%d.example.com/b", "http://a.b.c.d%d.example.com/1/2/3/4/5?q")) {
      int questions = 10_000;
      List<UrlExpressions> urls =
          IntStream.range(0, questions).mapToObj(i -> url(form.formatted(i))).toList();
      long present = lists.askEach(null, urls).stream().filter(UrlAnswer::isPresent).count();
      int expressions = urls.get(0).count();
      double stated = list.falsePositiveRate(urls.get(0));
      assertThat(stated).isCloseTo(1 - Math.pow(1 - rate, expressions), within(1e-12));
      assertThat(lists.falsePositiveRate(urls.get(0))).isCloseTo(stated, within(1e-12));
      // Parents of the host are the same in all questions, so fewer expressions are independent.
      assertThat((double) present)
          .isLessThan(questions * stated + 4 * Math.sqrt(questions * stated))
          .isGreaterThan(questions * stated / 10);
    }
  }

  @Test
  void theRatesOfListsAddUp() throws Exception {
    UrlExpressions three = url("a.example/b/c");
    assertThat(three.count()).isEqualTo(3);
    UrlList list =
        UrlList.of(
            set("spam", PUBLIC, Canonicaliser.URL_EXPRESSION, 0.01, List.of("a.example")), PUBLIC);
    assertThat(new UrlLists(List.of(list, list), List.of(list)).falsePositiveRate(three))
        .isCloseTo(1 - Math.pow(0.99, 6), within(1e-12));
    UrlList tiny =
        UrlList.of(
            set("tiny", PUBLIC, Canonicaliser.URL_EXPRESSION, 1e-12, List.of("a.example")), PUBLIC);
    assertThat(new UrlLists(List.of(tiny, tiny), List.of()).falsePositiveRate(three))
        .isCloseTo(6e-12, within(1e-22));
    assertThat(new UrlLists(List.of(), List.of(list)).falsePositiveRate(three)).isEqualTo(0.0);
  }

  @Test
  void aListAnswersByTheNameThatItIsGiven() throws Exception {
    UrlList list = list("spam", PUBLIC, "a.example");
    UrlList named = list.named("theirs");
    assertThat(new UrlLists(List.of(named, list), List.of()).ask(null, url("a.example")).matches())
        .containsExactly(new Match("theirs", "a.example/"), new Match("spam", "a.example/"));
    assertThat(named.falsePositiveRate(url("a.example")))
        .isEqualTo(list.falsePositiveRate(url("a.example")));
  }

  @Test
  void refusesWhatIsNoListAndAnotherKey() throws Exception {
    SnapshotSet pages = set("pages", PUBLIC, Canonicaliser.URL, RATE, List.of("http://a.example/"));
    assertThatThrownBy(() -> UrlList.of(pages, PUBLIC))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("'pages'", "url-expression", "got url");
    SnapshotSet secret =
        set("spam", SECRET, Canonicaliser.URL_EXPRESSION, RATE, List.of("a.example"));
    assertThatThrownBy(() -> UrlList.of(secret, PUBLIC))
        .isInstanceOf(HashKeyMismatchException.class);
  }

  @Test
  void aSnapshotOfOneShardIsAList() throws Exception {
    SetParameters whole =
        SetParameters.of(PUBLIC, Canonicaliser.URL_EXPRESSION, new Shards(1), RATE);
    long[] hashes = {whole.hash(null, "example.com".getBytes(UTF_8), PUBLIC)};
    Snapshot snapshot = Snapshot.build(hashes, new SnapshotParameters(whole, "spam", 0, 1, 0, 1));
    assertThat(UrlList.of(snapshot, PUBLIC).match(null, url("https://a.example.com/")))
        .contains("example.com/");

    SetParameters four =
        SetParameters.of(PUBLIC, Canonicaliser.URL_EXPRESSION, new Shards(4), RATE);
    Snapshot part = Snapshot.build(new long[0], new SnapshotParameters(four, "spam", 2, 1, 0, 1));
    assertThatThrownBy(() -> UrlList.of(part, PUBLIC))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("all its shards", "shard 2 of 4");
  }
}
