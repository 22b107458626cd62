package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.fixtures.SetPublisher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code firstseen snapshot match}, by what it prints and ends with. */
class SnapshotMatchTest {
  private static final String SECRET = "000102030405060708090a0b0c0d0e0f";

  @TempDir private Path directory;

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private String write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
    return path(name);
  }

  /** A list of these entries under the public key. */
  private String list(String name, String... entries) throws IOException {
    return build(name, "url-expression", 1e-6, entries);
  }

  private String build(String name, String canonicaliser, double rate, String... entries)
      throws IOException {
    Invocation built =
        Invocation.of(
            "snapshot",
            "build",
            "--input=" + write("entries", String.join("\n", entries)),
            "--output=" + path(name),
            "--set=" + name,
            "--canonicaliser=" + canonicaliser,
            "--fpr=" + rate);
    assertThat(built.status()).as("%s", built).isZero();
    return path(name);
  }

  private static Invocation match(String... words) {
    return matchWithInput("", words);
  }

  private static Invocation matchWithInput(String input, String... words) {
    return Invocation.withInput(
        input,
        Stream.concat(Stream.of("snapshot", "match"), Arrays.stream(words)).toArray(String[]::new));
  }

  private static SetParameters parameters(Canonicaliser canonicaliser, int shards) {
    return SetParameters.of(KeyHash.fixed(), canonicaliser, new Shards(shards), 1e-6);
  }

  private static long hash(SetParameters parameters, String scope, String entry) {
    try {
      return parameters.hash(
          scope == null ? null : scope.getBytes(UTF_8), entry.getBytes(UTF_8), KeyHash.fixed());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static void publish(Path set, long sequence, String... entries) throws IOException {
    SetParameters parameters = parameters(Canonicaliser.URL_EXPRESSION, 4);
    long[] hashes = Arrays.stream(entries).mapToLong(e -> hash(parameters, null, e)).toArray();
    new SetPublisher("spam", parameters)
        .publish(sequence, sequence * 1000, sequence * 1000 + 1000, hashes)
        .write(new SnapshotDirectory(set));
  }

  @Test
  void theAddressOfAListIsNotAFile() {
    assertThat(match("http://localhost:8081/phishing/", "a.example").err())
        .singleElement()
        .asString()
        .endsWith(
            "got the URL http://localhost:8081/phishing: to query a set on a web server, run"
                + " 'firstseen serve --directory URL'");
  }

  @Test
  void aByteOrderMarkIsNoPartOfTheFirstEntryOrUrl() throws IOException {
    String spam = list("spam", "\uFEFF0.0.0.0 s2-citi.com", "example.org");
    Invocation call = matchWithInput("\uFEFFhttps://s2-citi.com/login\nexample.org\n", spam, "-");
    assertThat(call.out())
        .containsExactly(
            "https://s2-citi.com/login\tpresent\ts2-citi.com/",
            "example.org\tpresent\texample.org/");
  }

  @Test
  void everyTextIsAnsweredInALineWithTheNumberOfEqualBands() throws IOException {
    String prize = "Dear Anna, claim your FREE prize worth $500 today!";
    Invocation built =
        Invocation.of(
            "snapshot",
            "build",
            "--input="
                + write("texts", prize + "\n" + prize.replace("$500", "£20") + "\nmeet me at noon"),
            "--output=" + path("texts.snapshot"),
            "--canonicaliser=text",
            "--near=short",
            "--hash-key-file=public");
    assertThat(built.out().get(0))
        .startsWith(path("texts.snapshot") + ": 2 texts in ")
        .endsWith(" bytes, without 1 near-duplicates");
    Invocation call =
        matchWithInput(
            "DEAR ANNA, claim your free prize worth $500 today!\ndear bob, claim your FREE prize"
                + " worth $50 today!\n\nmeet me at one\n",
            path("texts.snapshot"),
            "--hash-key-file=public");
    assertThat(call.out())
        .containsExactly(
            "DEAR ANNA, claim your free prize worth $500 today!\tpresent\t32",
            "dear bob, claim your FREE prize worth $50 today!\tpresent\t7",
            "\tinvalid\tkey is empty",
            "meet me at one\tabsent");
    assertThat(call.status()).isEqualTo(ExitCode.INVALID_QUERY);
    assertThat(match(path("texts.snapshot"), "--json", "meet me at noon").out())
        .containsExactly(
            "{\"text\":\"meet me at noon\",\"answer\":\"present\",\"equalBands\":32,\"bands\":32}");
    assertThat(match(path("texts.snapshot"), "--allow=" + path("texts"), "x").err())
        .containsExactly(
            "firstseen snapshot match: --list and --allow need lists of URLs; "
                + path("texts.snapshot")
                + " contains texts");
    assertThat(
            Invocation.of(
                    "snapshot",
                    "build",
                    "--input=" + path("texts"),
                    "--output=" + path("other"),
                    "--near=short")
                .err())
        .contains(
            "firstseen snapshot build: near-duplicates need the canonicaliser text, got none");
  }

  @Test
  void everyUrlIsAnsweredInALineWithTheMostSpecificEntry() throws IOException {
    String spam = list("spam", "s2-citi.com", "example.org/a/", "||Ads.Example^", "böse.example");
    assertThat(
            match(
                spam,
                "https://s2-citi.com/login",
                "https://s2-citi.com/",
                "http://s2-citi.com/",
                "HTTP://user@www.Example.org:8080/a/b?c#d",
                "example.org/A/",
                "http://x.ads.example",
                "https://böse.example/ü"))
        .isEqualTo(
            new Invocation(
                0,
                List.of(
                    "https://s2-citi.com/login\tpresent\ts2-citi.com/",
                    "https://s2-citi.com/\tpresent\ts2-citi.com/",
                    "http://s2-citi.com/\tpresent\ts2-citi.com/",
                    "HTTP://user@www.Example.org:8080/a/b?c#d\tpresent\texample.org/a/",
                    "example.org/A/\tabsent",
                    "http://x.ads.example\tpresent\tads.example/",
                    "https://böse.example/ü\tpresent\txn--bse-sna.example/"),
                List.of()));
  }

  @Test
  void standardInputIsAskedLineByLine() throws IOException {
    String spam = list("spam", "a.example");
    List<String> answers =
        List.of(
            "http://a.example/\tpresent\ta.example/",
            "\tinvalid\tkey is empty",
            "b.example\tabsent");
    assertThat(matchWithInput("http://a.example/\r\n\nb.example", spam).out()).isEqualTo(answers);
    assertThat(matchWithInput("http://a.example/\n\nb.example\n", spam, "-").out())
        .isEqualTo(answers);
    assertThat(matchWithInput("", spam)).isEqualTo(new Invocation(0, List.of(), List.of()));
  }

  /** More lines than are read at once, including invalid URLs. */
  @Test
  void manyLinesKeepTheirOrder() throws IOException {
    String spam =
        list(
            "spam",
            IntStream.range(0, 10_000)
                .filter(i -> i % 3 == 0)
                .mapToObj(i -> "h" + i + ".example")
                .toArray(String[]::new));
    List<String> lines = new ArrayList<>();
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      String url = i % 7 == 0 ? "http://[" + i : "https://www.h" + i + ".example/" + i;
      lines.add(url);
      boolean listed = i % 3 == 0 && i % 7 != 0;
      String invalid = "\tinvalid\thost '[" + i + "' is not an IPv6 address";
      answers.add(
          url + (i % 7 == 0 ? invalid : listed ? "\tpresent\th" + i + ".example/" : "\tabsent"));
    }
    assertThat(matchWithInput(String.join("\n", lines), spam))
        .isEqualTo(
            new Invocation(
                4,
                answers,
                List.of(
                    "invalid: 1429 could not be evaluated, so whether they are present is"
                        + " unknown")));
  }

  @Test
  void severalListsAnswerByTheirNamesAndAnAllowSetOverrides() throws IOException {
    String spam = list("spam", "example.com", "example.net/a");
    String phishing = list("phishing", "www.example.com/login", "example.net");
    String ours = list("ours", "ok.example.com", "example.net/ok/", "example.org");
    assertThat(
            match(
                    spam,
                    "https://www.example.com/login?x",
                    "http://ok.example.com/a",
                    "http://example.net/a",
                    "http://example.net/ok/a",
                    "http://example.org/",
                    "--list",
                    phishing,
                    "--allow",
                    ours)
                .out())
        .containsExactly(
            "https://www.example.com/login?x\tpresent"
                + "\texample.com/\tspam\twww.example.com/login\tphishing",
            "http://ok.example.com/a\tabsent\tok.example.com/\tours",
            "http://example.net/a\tpresent\texample.net/a\tspam\texample.net/\tphishing",
            "http://example.net/ok/a\tabsent\texample.net/ok/\tours",
            "http://example.org/\tabsent");
  }

  @Test
  void setsOfOneNameAreNamedByTheirPaths() throws IOException {
    String one = list("spam", "a.example");
    Files.createDirectory(directory.resolve("other"));
    String other = Files.move(Path.of(one), directory.resolve("other/spam")).toString();
    one = list("spam", "b.example", "a.example/a");
    assertThat(
            match(one, "--list", other, "--allow", list("ours", "c.example"), "a.example/a").out())
        .containsExactly("a.example/a\tpresent\ta.example/a\t" + one + "\ta.example/\t" + other);
    match(one, "--allow", one, "a.example").assertRefused(one + " must be given once");
    match(one, "--list", path("other/../spam"), "a.example").assertRefused(" must be given once");
  }

  @Test
  void machinesAreToldAllThatMatchesAndTheRateOfTheQuestion() throws IOException {
    String spam = build("spam", "url-expression", 0.001, "a.example", "ok.example");
    String ours = list("ours", "ok.example");
    Invocation call =
        matchWithInput(
            "http://www.a.example/b?c\nok.example\nhttp://[1\n",
            spam,
            "--list",
            build("more", "url-expression", 0.001, "b.example"),
            "--allow",
            ours,
            "--json");
    double question = 1 - Math.pow(0.999, 2 * 6);
    assertThat(call.out())
        .containsExactly(
            "{\"url\":\"http://www.a.example/b?c\",\"answer\":\"present\","
                + "\"matches\":[{\"set\":\"spam\",\"entry\":\"a.example/\"}],\"allowedBy\":[],"
                + "\"expressions\":6,\"falsePositiveRate\":"
                + rateIn(call, 0, question)
                + "}",
            "{\"url\":\"ok.example\",\"answer\":\"absent\","
                + "\"matches\":[{\"set\":\"spam\",\"entry\":\"ok.example/\"}],"
                + "\"allowedBy\":[{\"set\":\"ours\",\"entry\":\"ok.example/\"}],"
                + "\"expressions\":1,\"falsePositiveRate\":"
                + rateIn(call, 1, 1 - 0.999 * 0.999)
                + "}",
            "{\"url\":\"http://[1\",\"answer\":\"invalid\","
                + "\"reason\":\"host '[1' is not an IPv6 address\"}");
  }

  /** The rate in a line, which is close to the expected one. */
  private static double rateIn(Invocation call, int line, double expected) throws IOException {
    JsonNode answer = new Invocation(0, call.out().subList(line, line + 1), List.of()).json();
    double rate = answer.get("falsePositiveRate").doubleValue();
    assertThat(rate).isCloseTo(expected, within(1e-12));
    return rate;
  }

  @Test
  void aDirectoryIsAskedInAllShardsAndTheFirstInTheSequenceThatIsNamed() throws IOException {
    Path set = directory.resolve("set");
    String[] entries =
        IntStream.range(0, 100).mapToObj(i -> "h" + i + ".example").toArray(String[]::new);
    publish(set, 1, Arrays.copyOf(entries, 50));
    publish(set, 2, entries);
    Path more = directory.resolve("more");
    publish(more, 7, "b.example");
    String urls = String.join("\n", entries);
    assertThat(matchWithInput(urls, set.toString()).out())
        .hasSize(100)
        .allMatch(line -> line.contains("\tpresent\t"));
    assertThat(matchWithInput(urls, set.toString(), "--sequence=1").out())
        .filteredOn(line -> line.contains("\tpresent\t"))
        .hasSize(50);
    assertThat(
            match(set.toString(), "--sequence=1", "--list=" + more, "h60.example", "b.example")
                .out())
        .containsExactly("h60.example\tabsent", "b.example\tpresent\tb.example/\t" + more);
    match(list("file", "a.example"), "--sequence=1", "a.example")
        .assertRefused("--sequence chooses among the manifests of a directory");
  }

  @Test
  void entriesOfAScopeAreAskedUnderIt() throws IOException {
    SetParameters parameters = parameters(Canonicaliser.URL_EXPRESSION, 1);
    long[] hashes = {hash(parameters, "tenant", "a.example")};
    Files.write(
        directory.resolve("f"),
        Snapshot.build(hashes, new SnapshotParameters(parameters, "scoped", 0, 0, 0, 0)).toBytes());
    assertThat(match(path("f"), "http://a.example/b", "--scope=tenant").out())
        .containsExactly("http://a.example/b\tpresent\ta.example/");
    assertThat(match(path("f"), "http://a.example/b").out())
        .containsExactly("http://a.example/b\tabsent");
    match(path("f"), "a.example", "--scope=" + "x".repeat(70_000)).assertRefused("--scope: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"none", "url", "text"})
  void aSetOfAnotherRuleIsRefusedWithWhatToBuildItWith(String canonicaliser) throws IOException {
    String pages = build("pages", canonicaliser, 0.001, "http://a.example/");
    String sentence =
        pages
            + " has the canonicaliser "
            + canonicaliser
            + " and cannot be matched; build it with --canonicaliser url-expression";
    match(pages, "a.example").assertRefused(sentence);
    String spam = list("spam", "a.example");
    match(spam, "a.example", "--list", pages).assertRefused(sentence);
    match(spam, "a.example", "--allow", pages).assertRefused(sentence);
  }

  @Test
  void whatCannotBeAskedIsRefused() throws IOException {
    String spam = list("spam", "a.example");
    String secret = write("secret.key", SECRET);
    match(spam, "a.example", "--hash-key-file", secret)
        .assertRefused(spam + ": the set is hashed by siphash-2-4 with key check ");
    match(spam, "a.example", "--list", path("missing"))
        .assertRefused("cannot read " + path("missing") + ": there is no such file");
    match(spam, "a.example", "--allow", directory.toString())
        .assertRefused("there is no manifest in " + directory);
    SetParameters four = parameters(Canonicaliser.URL_EXPRESSION, 4);
    Files.write(
        directory.resolve("shard"),
        Snapshot.build(new long[0], new SnapshotParameters(four, "spam", 2, 0, 0, 0)).toBytes());
    match(path("shard"), "a.example")
        .assertRefused(
            path("shard") + " contains shard 2 of 4; match the directory with all shards");
    byte[] bytes = Files.readAllBytes(Path.of(spam));
    Files.write(directory.resolve("damaged"), Arrays.copyOf(bytes, bytes.length - 1));
    match(path("damaged"), "a.example").assertRefused(path("damaged") + ": ");
  }

  @Test
  void infoHasTheRateOfAUrlIfTheSetIsAList() throws IOException {
    String spam = build("spam", "url-expression", 0.001, "a.example");
    assertThat(Invocation.of("snapshot", "info", spam).out())
        .contains("rate of a URL       up to 0.02957");
    assertThat(
            Invocation.of("snapshot", "info", spam, "--json")
                .json()
                .get("urlFalsePositiveRate")
                .doubleValue())
        .isCloseTo(1 - Math.pow(0.999, 30), within(1e-12));
    String pages = build("pages", "url", 0.001, "http://a.example/");
    assertThat(Invocation.of("snapshot", "info", pages).out())
        .noneMatch(line -> line.startsWith("rate of a URL"));
    assertThat(
            Invocation.of("snapshot", "info", pages, "--json").json().has("urlFalsePositiveRate"))
        .isFalse();
  }

  /** Visits to the hosts and URLs of the shipped stream, which a set of `url` does not answer. */
  @Test
  void visitsToListedHostsOfTheShippedStreamArePresent() throws IOException {
    Path lists = directory.resolve("lists");
    Invocation run =
        Invocation.of(
            "run",
            "--input=../examples/phishing-domains-small.tsv.gz",
            "--format=tsv",
            "--canonicaliser=url-expression",
            "--capacity=50000",
            "--window=1d",
            "--accepted=" + path("accepted.tsv"),
            "--snapshots=" + lists);
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(
            match(
                    lists.toString(),
                    "https://s2-citi.com/login",
                    "https://s2-citi.com/",
                    "http://s2-citi.com/",
                    "https://citi.com/login")
                .out())
        .containsExactly(
            "https://s2-citi.com/login\tpresent\ts2-citi.com/",
            "https://s2-citi.com/\tpresent\ts2-citi.com/",
            "http://s2-citi.com/\tpresent\ts2-citi.com/",
            "https://citi.com/login\tabsent");
  }
}
