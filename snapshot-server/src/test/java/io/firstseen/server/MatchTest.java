package io.firstseen.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.consumer.FollowedDirectory;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.HttpLimits;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Looks up URLs in lists over HTTP. */
class MatchTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final double RATE = 1e-9;
  private static final int MAX_BATCH = 1_500;
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir private static Path directory;
  // Lists spam and phishing, an allow set, and a set that is not a list.
  private static SnapshotServer shared;

  private static DirectoryPublisher publisher(String set, Canonicaliser canonicaliser) {
    return new DirectoryPublisher(directory.resolve(set), set, KeyHash.fixed(), canonicaliser, 2);
  }

  private static DirectoryPublisher list(String set) {
    return publisher(set, Canonicaliser.URL_EXPRESSION);
  }

  private static SetSource source(String set) {
    return new SetSource.OfFiles(
        FollowedDirectory.builder(directory.resolve(set), set).poll(Duration.ofMillis(10)),
        set,
        KeyHash.fixed(),
        List.of(),
        Optional.of(Duration.ofHours(1)));
  }

  private static SnapshotServer start(boolean refuseStale, Set<String> allow, String... sets)
      throws Exception {
    List<SetSource> sources = new ArrayList<>();
    for (String set : sets) {
      sources.add(source(set));
    }
    return SnapshotServer.start(
        new ServerOptions(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Access.by(AllowedHosts.any()),
            refuseStale,
            HttpLimits.DEFAULT,
            MAX_BATCH,
            Duration.ZERO,
            Duration.ofSeconds(1),
            Optional.empty()),
        sources,
        allow,
        new ServiceLog() {});
  }

  private static void awaitReady(SnapshotServer server) throws Exception {
    await("it is ready")
        .atMost(Duration.ofSeconds(30))
        .until(() -> get(server, "/readyz").statusCode() == 200);
  }

  private static void awaitState(SnapshotServer server, String set, String state) throws Exception {
    await(set + " is " + state)
        .atMost(Duration.ofSeconds(30))
        .until(() -> status(server, set).path("state").asText().equals(state));
  }

  private static JsonNode status(SnapshotServer server, String set) throws Exception {
    for (JsonNode each : JSON.readTree(get(server, "/v1/status").body()).path("sets")) {
      if (each.path("set").asText().equals(set)) {
        return each;
      }
    }
    throw new AssertionError("no set " + set);
  }

  @BeforeAll
  static void publish() throws Exception {
    list("spam").publish(7, "example.com/", "example.com/a/", "example.net/");
    list("phishing").publish(8, "example.com/", "login.example/in.php");
    list("ours").publish(9, "ok.example.com/", "example.net/ok/");
    publisher("keys", Canonicaliser.NONE).publish(1, "example.com/");
    shared = start(false, Set.of("ours"), "spam", "phishing", "ours", "keys");
    awaitReady(shared);
  }

  @AfterAll
  static void close() {
    if (shared != null) {
      shared.close();
    }
  }

  private static HttpRequest.Builder request(SnapshotServer server, String target) {
    return HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + server.address().getPort() + target));
  }

  private static HttpResponse<String> get(SnapshotServer server, String target) throws Exception {
    return HTTP.send(request(server, target).build(), HttpResponse.BodyHandlers.ofString());
  }

  private static HttpResponse<String> match(SnapshotServer server, String url, String more)
      throws Exception {
    return get(server, "/v1/match?url=" + URLEncoder.encode(url, UTF_8) + more);
  }

  private static HttpResponse<String> batch(SnapshotServer server, String parameters, String body)
      throws Exception {
    return HTTP.send(
        request(server, "/v1/match" + parameters)
            .header("content-type", "text/plain")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static JsonNode answer(HttpResponse<String> response) throws Exception {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(response.headers().firstValue("cache-control")).contains("no-store");
    return JSON.readTree(response.body());
  }

  private static String error(HttpResponse<String> response) throws Exception {
    JsonNode node = JSON.readTree(response.body());
    assertThat(node.size()).isEqualTo(1);
    return node.path("error").asText();
  }

  private static ArrayNode matches(String... setsAndEntries) {
    ArrayNode matches = JSON.createArrayNode();
    for (int i = 0; i < setsAndEntries.length; i += 2) {
      matches.addObject().put("set", setsAndEntries[i]).put("entry", setsAndEntries[i + 1]);
    }
    return matches;
  }

  private static ObjectNode fields(String url, ArrayNode matches, ArrayNode allowedBy, int lists)
      throws Exception {
    int expressions = UrlExpressions.of(url.getBytes(UTF_8)).count();
    ObjectNode fields = JSON.createObjectNode();
    fields.put("url", url).put("present", !matches.isEmpty() && allowedBy.isEmpty());
    fields.set("matches", matches);
    fields.set("allowedBy", allowedBy);
    fields.put("expressions", expressions);
    // The product over lists of one rate is one list with more expressions.
    double rate = UrlList.falsePositiveRate(RATE, lists * expressions);
    return fields.put("falsePositiveRate", rate);
  }

  private static ArrayNode sets(String... sets) {
    ArrayNode described = JSON.createArrayNode();
    for (String set : sets) {
      int sequence = set.equals("spam") ? 7 : set.equals("phishing") ? 8 : 9;
      described
          .addObject()
          .put("set", set)
          .put("sequence", sequence)
          .put("windowEndMillis", sequence * (int) DirectoryPublisher.WINDOW_MILLIS)
          .put("allow", set.equals("ours"));
    }
    return described;
  }

  /** Compares all fields; rates may differ in their last digits. */
  private static void requireEqual(JsonNode actual, ObjectNode expected) {
    assertThat(actual.path("falsePositiveRate").asDouble() / RATE)
        .isCloseTo(expected.path("falsePositiveRate").asDouble() / RATE, within(1e-3));
    ObjectNode rounded = actual.deepCopy();
    rounded.set("falsePositiveRate", expected.path("falsePositiveRate"));
    assertThat(rounded).isEqualTo(expected);
  }

  @Test
  void everyListThatListsAUrlIsNamedWithItsMostSpecificEntry() throws Exception {
    String url = "HTTPS://User@WWW.Example.com:8443/a/b.html?q=ü&x";
    ObjectNode expected =
        fields(url, matches("spam", "example.com/a/", "phishing", "example.com/"), matches(), 2);
    expected.set("sets", sets("spam", "phishing", "ours"));
    requireEqual(answer(match(shared, url, "")), expected);

    String other = "http://example.org/a/";
    ObjectNode absent = fields(other, matches(), matches(), 2);
    absent.set("sets", sets("spam", "phishing", "ours"));
    requireEqual(answer(match(shared, other, "")), absent);
  }

  @Test
  void anAllowSetOverridesHoweverWideItIs() throws Exception {
    String url = "https://a.ok.example.com/a/";
    ObjectNode expected =
        fields(
            url,
            matches("spam", "example.com/a/", "phishing", "example.com/"),
            matches("ours", "ok.example.com/"),
            2);
    expected.set("sets", sets("spam", "phishing", "ours"));
    requireEqual(answer(match(shared, url, "")), expected);
    assertThat(answer(match(shared, "http://example.net/ok/x", "")).path("present").asBoolean())
        .isFalse();
    assertThat(answer(match(shared, "http://example.net/no", "")).path("present").asBoolean())
        .isTrue();
  }

  @Test
  void onlyTheNamedListsAreAskedAndStillTheAllowSets() throws Exception {
    String url = "http://ok.example.com/a/";
    ObjectNode one =
        fields(url, matches("phishing", "example.com/"), matches("ours", "ok.example.com/"), 1);
    one.set("sets", sets("phishing", "ours"));
    requireEqual(answer(match(shared, url, "&set=phishing")), one);
    requireEqual(answer(match(shared, url, "&set=phishing&set=phishing")), one);

    ObjectNode both =
        fields(
            url,
            matches("phishing", "example.com/", "spam", "example.com/a/"),
            matches("ours", "ok.example.com/"),
            2);
    both.set("sets", sets("phishing", "spam", "ours"));
    requireEqual(answer(match(shared, url, "&set=phishing&set=spam")), both);
    assertThat(answer(batch(shared, "?set=phishing&set=spam", url)).path("sets"))
        .isEqualTo(both.path("sets"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "|400|the parameter url must be given",
        "?url=a.example&url=b|400|the parameter 'url' must be given once",
        "?url=|400|the URL is invalid: key is empty",
        "?url=mailto:a@b.example|400|the URL is invalid: 'mailto:a@b.example' has an at sign",
        "?url=a.example&key=b|400|parameters must be among url, scope, set; got 'key'",
        "?url=a.example&set=ham|404|there is no set 'ham', there are spam, phishing, ours, keys",
        "?url=a.example&set=spam&set=ham|404|there is no set 'ham'",
        "?url=a.example&set=keys|400|set 'keys' must have the canonicaliser url-expression to look"
            + " up URLs, got none",
        "?url=a.example&set=ours|400|set must name lists, 'ours' is an allow set, which is always"
            + " checked",
      })
  void mistakesAreOneSentence(String parameters, int status, String sentence) throws Exception {
    HttpResponse<String> response =
        get(shared, "/v1/match" + (parameters == null ? "" : parameters));
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(error(response)).startsWith(sentence);
  }

  @Test
  void aBatchIsAnsweredInOrderAndSaysWhatIsNoUrl() throws Exception {
    JsonNode answer =
        answer(batch(shared, "", "http://www.example.com/x\nhttp://\r\n\nlogin.example/in.php?a"));
    assertThat(answer.path("sets")).isEqualTo(sets("spam", "phishing", "ours"));
    JsonNode answers = answer.path("answers");
    assertThat(answers.size()).isEqualTo(4);
    requireEqual(
        answers.get(0),
        fields(
            "http://www.example.com/x",
            matches("spam", "example.com/", "phishing", "example.com/"),
            matches(),
            2));
    assertThat(answers.get(1))
        .isEqualTo(
            JSON.createObjectNode()
                .put("url", "http://")
                .put("error", "the URL is invalid: URL has no host"));
    assertThat(answers.get(2).path("error").asText()).isEqualTo("the URL is invalid: key is empty");
    requireEqual(
        answers.get(3),
        fields(
            "login.example/in.php?a", matches("phishing", "login.example/in.php"), matches(), 2));
    assertThat(answer(batch(shared, "", "")).path("answers").size()).isZero();
    assertThat(error(batch(shared, "", "a\n".repeat(MAX_BATCH + 1))))
        .isEqualTo("a batch must have at most 1500 keys");
  }

  /** More than are looked up at once, with some that are invalid between them. */
  @Test
  void aLongBatchIsAnsweredAsItsUrlsOneByOne() throws Exception {
    List<String> urls = new ArrayList<>();
    for (int i = 0; i < MAX_BATCH; i++) {
      urls.add(i % 7 == 3 ? "http://" : i % 5 == 0 ? "x" + i + ".example.com" : i + ".example");
    }
    JsonNode answers = answer(batch(shared, "", String.join("\n", urls))).path("answers");
    assertThat(answers.size()).isEqualTo(MAX_BATCH);
    for (int i = 0; i < MAX_BATCH; i++) {
      JsonNode answer = answers.get(i);
      assertThat(answer.path("url").asText()).isEqualTo(urls.get(i));
      assertThat(answer.has("error")).isEqualTo(i % 7 == 3);
      assertThat(answer.path("present").asBoolean()).isEqualTo(i % 7 != 3 && i % 5 == 0);
    }
  }

  @Test
  void entriesOfAScopeAnswerForItAlone() throws Exception {
    DirectoryPublisher scoped = list("scoped");
    byte[] joined = ScopedKey.join("t&t".getBytes(UTF_8), "example.org/".getBytes(UTF_8));
    scoped.writeManifest(scoped.writeBlobs(1, new long[] {KeyHash.fixed().hash(joined)}));
    try (SnapshotServer server = start(false, Set.of(), "scoped")) {
      awaitReady(server);
      String url = "http://www.example.org/";
      assertThat(answer(match(server, url, "&scope=t%26t")).path("present").asBoolean()).isTrue();
      assertThat(answer(match(server, url, "")).path("present").asBoolean()).isFalse();
      assertThat(answer(batch(server, "?scope=t%26t", url)).at("/answers/0/present").asBoolean())
          .isTrue();
      HttpResponse<String> large =
          batch(server, "?scope=" + "t".repeat(5_000), (url + "\n").repeat(900));
      assertThat(large.statusCode()).isEqualTo(413);
      assertThat(large.body())
          .contains(
              "the bytes of the scope times the URLs must be at most 4194304, got 5000 times 900");
      assertThat(answer(batch(server, "?scope=t", url)).at("/answers/0/present").asBoolean())
          .isFalse();
    }
  }

  @Test
  void whatCannotAnswerIsNeverTakenForAbsent() throws Exception {
    long threeHoursAgo = System.currentTimeMillis() - 3 * 3_600_000;
    DirectoryPublisher old = list("old");
    old.writeManifest(old.writeBlobs(1, "example.org/").withTimes(threeHoursAgo, null));
    String stale = "set 'old' is stale: sequence 1 was published 3 h ago";
    String none = "set 'empty' has no snapshot yet";
    String url = "http://example.com/";
    try (SnapshotServer server = start(true, Set.of("old"), "spam", "old", "empty")) {
      awaitState(server, "old", "STALE");
      awaitState(server, "spam", "READY");
      // An allow set is queried with each list.
      refused(match(server, url, "&set=spam"), stale);
      refused(batch(server, "?set=spam", url), stale);
    }
    try (SnapshotServer server = start(true, Set.of(), "spam", "old")) {
      awaitState(server, "old", "STALE");
      awaitState(server, "spam", "READY");
      refused(match(server, url, ""), stale);
      refused(batch(server, "", url), stale);
      assertThat(answer(match(server, url, "&set=spam")).path("present").asBoolean()).isTrue();
    }
    try (SnapshotServer server = start(false, Set.of(), "spam", "old", "empty")) {
      awaitState(server, "old", "STALE");
      awaitState(server, "spam", "READY");
      // It may be a list.
      refused(match(server, url, ""), none);
      refused(match(server, url, "&set=spam&set=empty"), none);
      refused(batch(server, "", url), none);
      assertThat(
              answer(match(server, "example.org", "&set=spam&set=old")).path("present").asBoolean())
          .isTrue();
    }
  }

  private static void refused(HttpResponse<String> response, String sentence) throws Exception {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
    assertThat(error(response)).startsWith(sentence);
  }

  @Test
  void anAllowSetThatIsNoListAnswersNothing() throws Exception {
    String sentence =
        "set 'keys' must have the canonicaliser url-expression to look up URLs, got none";
    try (SnapshotServer server = start(false, Set.of("keys"), "spam", "keys")) {
      awaitState(server, "keys", "READY");
      awaitState(server, "spam", "READY");
      refused(match(server, "http://example.com/", ""), sentence);
      refused(get(server, "/readyz"), sentence);
      assertThat(status(server, "keys").path("notReady").asText()).isEqualTo(sentence);
    }
  }

  @Test
  void aServiceWithoutListsSaysSo() throws Exception {
    try (SnapshotServer server = start(false, Set.of("ours"), "keys", "ours")) {
      awaitReady(server);
      HttpResponse<String> response = match(server, "http://example.com/", "");
      assertThat(response.statusCode()).isEqualTo(404);
      assertThat(error(response))
          .isEqualTo(
              "no set here is a list, which has the canonicaliser url-expression; there are keys,"
                  + " ours");
    }
  }

  @Test
  void theStatusTellsListsAndAllowSets() throws Exception {
    for (String set : List.of("spam", "phishing", "ours", "keys")) {
      JsonNode status = status(shared, set);
      assertThat(status.path("allow").isBoolean()).isTrue();
      assertThat(status.path("allow").asBoolean()).isEqualTo(set.equals("ours"));
      assertThat(status.path("list").isBoolean()).isTrue();
      assertThat(status.path("list").asBoolean())
          .isEqualTo(set.equals("spam") || set.equals("phishing"));
    }
  }

  @Test
  void answersAreCountedByList() throws Exception {
    try (SnapshotServer server = start(false, Set.of("ours"), "spam", "phishing", "ours", "keys")) {
      awaitReady(server);
      answer(match(server, "http://example.net/", ""));
      answer(batch(server, "", "http://example.net/\nhttp://example.net/ok/\nhttp://"));
      assertThat(match(server, "http://", "&set=spam").statusCode()).isEqualTo(400);
      assertThat(get(server, "/metrics").body().lines())
          .filteredOn(line -> line.startsWith("firstseen_url_queries_total{"))
          .containsExactlyInAnyOrder(
              "firstseen_url_queries_total{answer=\"present\",set=\"spam\"} 2.0",
              "firstseen_url_queries_total{answer=\"allowed\",set=\"spam\"} 1.0",
              "firstseen_url_queries_total{answer=\"invalid\",set=\"spam\"} 2.0",
              "firstseen_url_queries_total{answer=\"absent\",set=\"phishing\"} 3.0",
              "firstseen_url_queries_total{answer=\"invalid\",set=\"phishing\"} 1.0",
              "firstseen_url_queries_total{answer=\"present\",set=\"ours\"} 1.0",
              "firstseen_url_queries_total{answer=\"absent\",set=\"ours\"} 2.0",
              "firstseen_url_queries_total{answer=\"invalid\",set=\"ours\"} 2.0");
      assertThat(get(server, "/metrics").body())
          .contains("firstseen_http_requests_total{route=\"match\",status=\"200\"} 1.0")
          .contains("firstseen_http_requests_total{route=\"match_batch\",status=\"200\"} 1.0");
    }
  }

  @Test
  void allUrlsOfABatchAreAnsweredByOneSnapshotOfEachSet() throws Exception {
    DirectoryPublisher changing = list("changing");
    DirectoryPublisher allowing = list("allowing");
    changing.publish(1, "example.org/");
    // Without an entry in windows of odd numbers.
    allowing.publish(1);
    String body = String.join("\n", Collections.nCopies(MAX_BATCH, "http://example.org/"));
    try (SnapshotServer server = start(false, Set.of("allowing"), "changing", "allowing")) {
      awaitReady(server);
      AtomicBoolean done = new AtomicBoolean();
      Set<Long> seen = ConcurrentHashMap.newKeySet();
      CompletableFuture<Void> asker =
          CompletableFuture.runAsync(
              () -> {
                try {
                  while (!done.get()) {
                    JsonNode batch = answer(batch(server, "", body));
                    long listed = batch.at("/sets/0/sequence").asLong();
                    long allowed = batch.at("/sets/1/sequence").asLong();
                    for (JsonNode answer : batch.path("answers")) {
                      assertThat(answer.path("matches").size()).isEqualTo((int) listed % 2);
                      assertThat(answer.path("allowedBy").size()).isEqualTo(1 - (int) allowed % 2);
                    }
                    seen.add(listed);
                  }
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      String[] none = {};
      String[] entry = {"example.org/"};
      for (int sequence = 2; sequence <= 12; sequence++) {
        changing.publish(sequence, sequence % 2 == 1 ? entry : none);
        allowing.publish(sequence, sequence % 2 == 0 ? entry : none);
        long published = sequence;
        await("sequence " + sequence + " answers")
            .pollInterval(Duration.ofMillis(10))
            .atMost(Duration.ofSeconds(30))
            .until(() -> seen.contains(published) || asker.isDone());
      }
      done.set(true);
      asker.get();
    }
  }
}
