package io.firstseen.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.BearerTokens;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page, as a browser shows it. Leaves screenshots in {@code target/page}. */
class PageTest {
  private static final Path SCREENSHOTS = Path.of("target", "page");
  private static final int SNAPSHOTS = 12;

  /** The lowest contrast between a text and its background (WCAG 2.1, success criterion 1.4.3). */
  private static final String LOWEST_CONTRAST =
      """
      (() => {
        const parts = (color) => color.match(/[\\d.]+/g).map(Number);
        const light = (color) => {
          const [r, g, b] = parts(color).map((v) => v / 255)
            .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const behind = (element) => {
          for (let e = element; e; e = e.parentElement) {
            const color = getComputedStyle(e).backgroundColor;
            const [, , , alpha] = parts(color);
            if (alpha === undefined || alpha > 0) return color;
          }
          return "rgb(255, 255, 255)";
        };
        let lowest = 21;
        for (const e of document.querySelectorAll("body *")) {
          const own = Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.data.trim());
          if (!own || !e.getClientRects().length || e.closest("noscript")) continue;
          const style = getComputedStyle(e);
          const front = light(e.closest("svg") ? style.fill : style.color);
          const back = light(behind(e));
          lowest = Math.min(lowest, (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05));
        }
        return lowest;
      })()""";

  private static Path profile;
  private static Chromium browser;

  @TempDir private Path path;
  private DirectoryPublisher publisher;
  private SnapshotServer server;

  @BeforeAll
  static void startBrowser() throws Exception {
    assumeTrue(
        Chromium.find().isPresent(),
        "no Chromium on this machine, so the page is not tested (Debian: apt-get install"
            + " chromium)");
    profile = Files.createTempDirectory("firstseen-chromium");
    browser = Chromium.start(profile);
  }

  @AfterAll
  static void endBrowser() throws Exception {
    if (browser != null) {
      browser.close();
    }
    if (profile != null) {
      try (Stream<Path> files = Files.walk(profile)) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }

  @BeforeEach
  void open() throws Exception {
    publisher = new DirectoryPublisher(path, "phishing", KeyHash.fixed(), Canonicaliser.URL, 2);
    Random random = new Random(1);
    long[] hashes = random.longs(4_000).toArray();
    hashes[0] = KeyHash.fixed().hash("https://example.org/a".getBytes(UTF_8));
    for (int i = 1; i <= SNAPSHOTS; i++) {
      int keys = i < 8 ? 400 * i : 300 * i;
      publisher.writeManifest(publisher.writeBlobs(i, Arrays.copyOf(hashes, keys)));
    }
    show(path, KeyHash.fixed());
  }

  private static ServerOptions options() {
    return ServerOptions.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private static SnapshotServer serve(Path directory, KeyHash keyHash, ServerOptions options)
      throws Exception {
    return SnapshotServer.start(
        options, List.of(source(directory, "phishing", keyHash)), new ServiceLog() {});
  }

  private static SetSource source(Path directory, String set, KeyHash keyHash) {
    return DirectoryPublisher.source(directory, set, keyHash, Duration.ofMillis(50));
  }

  /** Serves the directory of a set, and opens the page. */
  private void show(Path directory, KeyHash keyHash) throws Exception {
    server = serve(directory, keyHash, options());
    openPage();
  }

  private void openPage() throws Exception {
    browser.become(1100, 900, false);
    String url = "http://127.0.0.1:" + server.address().getPort() + "/";
    browser.open(url);
    browser.await("location.href === '" + url + "'");
    browser.complaints();
    browser.await(
        "document.documentElement.dataset.loaded && document.getElementById('state').textContent"
            + " === 'ready'");
  }

  @AfterEach
  void close() {
    server.close();
  }

  private static String text(String selector) throws Exception {
    return browser.evaluate("document.querySelector('" + selector + "').innerText").asText();
  }

  private static void ask(String key) throws Exception {
    browser.evaluate(
        "document.getElementById('answer').replaceChildren();"
            + "document.getElementById('key').value = "
            + new ObjectMapper().writeValueAsString(key)
            + ";document.querySelector('#form button').click()");
    browser.await("document.getElementById('answer').children.length");
  }

  @Test
  void showsWhatAnswersAndWhatWasPublished() throws Exception {
    assertThat(text("#name")).isEqualTo("phishing");
    assertThat(text("#figures"))
        .contains("3,600", "bits per key", "at most 1.0e-7 %", "s ago", "2 shards", "url");
    for (String chart : List.of("#keys-chart", "#bytes-chart")) {
      JsonNode points =
          browser.evaluate("document.querySelector('" + chart + " polyline').points.length");
      assertThat(points.asInt()).isEqualTo(SNAPSHOTS);
    }
    assertThat(
            browser
                .evaluate("document.querySelector('#keys-chart svg').getAttribute('aria-label')")
                .asText())
        .isEqualTo("Keys of the last 12 snapshots; the last has 3.6 k");
    browser.evaluate("document.querySelector('details').open = true");
    assertThat(text("#rows tr")).contains("12", "3,600", "+300");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void saysWhenToExpectTheFirstSnapshot(@TempDir Path empty) throws Exception {
    assertThat(browser.evaluate("document.getElementById('none').hidden").asBoolean()).isTrue();
    server.close();
    server = serve(empty, KeyHash.fixed(), options());
    browser.open("http://127.0.0.1:" + server.address().getPort() + "/");
    String sentence = "None yet: the directory that the service follows holds none.";
    browser.await("document.getElementById('none').innerText === '" + sentence + "'");
  }

  @Test
  void asksForTheTokenAndTakesItAlong() throws Exception {
    String token = showGuarded();
    assertThat(text("#lost")).isEqualTo("This service needs a token.");
    useToken("a-token-of-somebody-else");
    browser.await(
        "document.getElementById('lost').innerText.includes('not valid for this service')");
    // A space of no width.
    useToken(token + "\\u200b");
    browser.await("document.getElementById('lost').innerText.includes('cannot be a token')");
    assertThat(browser.evaluate("document.getElementById('token-form').hidden").asBoolean())
        .isFalse();
    useToken(token);
    browser.await("document.getElementById('state').textContent === 'ready'");
    assertThat(browser.evaluate("document.getElementById('token-form').hidden").asBoolean())
        .isTrue();
    ask("https://example.org/a");
    assertThat(text("#answer .verdict")).startsWith("present by sequence 12");
    browser.await("!document.getElementById('offline').hidden");
    browser.evaluate("document.getElementById('download').click()");
    browser.await(
        "document.getElementById('offline-text').innerText.includes('This page runs queries')");
  }

  /** Serves the set behind a token, which is returned, and opens the page. */
  private String showGuarded() throws Exception {
    server.close();
    String token = "of-the-page-0123456789";
    server =
        serve(
            path,
            KeyHash.fixed(),
            options().withAccess(new Access(AllowedHosts.any(), BearerTokens.parse(token), null)));
    browser.open("http://127.0.0.1:" + server.address().getPort() + "/");
    browser.await("!document.getElementById('token-form').hidden");
    return token;
  }

  @ParameterizedTest
  @ValueSource(strings = {"release", "fail"})
  void aLateAnswerToAnEarlierTokenDoesNotCount(String end) throws Exception {
    String token = showGuarded();
    browser.evaluate(
        """
        const send = window.fetch;
        window.fetch = async (url, options) => {
          const reply = await send(url, options);
          if (options.headers.authorization === "Bearer an-earlier-token-0123456789") {
            await new Promise((release, fail) => { Object.assign(window, { release, fail }); });
          }
          return reply;
        };
        """);
    useToken("an-earlier-token-0123456789");
    browser.await("window.release");
    useToken(token);
    browser.await(
        "document.getElementById('state').textContent === 'ready'"
            + " && document.getElementById('lost').hidden");
    // No later answer wipes what this one may show.
    browser.evaluate(
        "window.fetch = () => new Promise(() => {}); "
            + end
            + "(); new Promise((resolve) => setTimeout(resolve, 50))");
    for (String element : List.of("token-form", "lost")) {
      assertThat(browser.evaluate("document.getElementById('" + element + "').hidden").asBoolean())
          .as(element)
          .isTrue();
    }
  }

  private static void useToken(String token) throws Exception {
    browser.evaluate(
        "document.getElementById('token').value = '"
            + token
            + "';document.querySelector('#token-form button').click()");
  }

  @Test
  void answersForAKeyThatIsTried() throws Exception {
    ask("HTTPS://EXAMPLE.org:443/a");
    assertThat(text("#answer .verdict")).startsWith("present by sequence 12, window until");
    assertThat(text("#answer dl")).contains("https://example.org/a", " of 2");
    ask("https://example.org/b");
    assertThat(text("#answer .verdict")).startsWith("absent by sequence 12");
    assertThat(browser.complaints()).isEmpty();
    ask("http://[");
    assertThat(text("#answer .verdict")).startsWith("invalid the key is invalid: ");
  }

  @Test
  void aKeyThatLooksLikeMarkupIsText() throws Exception {
    String markup = "http://x/<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>";
    ask(markup);
    assertThat(text("#answer")).contains(markup);
    assertThat(
            browser
                .evaluate("document.querySelectorAll('#answer img, #answer script').length")
                .asInt())
        .isZero();
    assertThat(browser.evaluate("String(window.hurt)").asText()).isEqualTo("undefined");
    // Even if it were markup, the policy would not let it run.
    assertThat(browser.complaints()).isEmpty();
    browser.evaluate(
        "document.body.insertAdjacentHTML('beforeend',"
            + " '<img src=\"data:,\" onerror=\"window.hurt=1\">')");
    browser.evaluate("new Promise((resolve) => setTimeout(resolve, 200))");
    assertThat(browser.evaluate("String(window.hurt)").asText()).isEqualTo("undefined");
    assertThat(browser.complaints()).anyMatch(text -> text.contains("Content Security Policy"));
  }

  @Test
  void followsWithoutBeingLoadedAgainAndSaysWhenItIsAlone() throws Exception {
    publisher.publish(13, "https://example.org/b");
    browser.await(
        "document.getElementById('figures').innerText.includes('until 1970-01-01 00:13')");
    assertThat(
            browser
                .evaluate("document.querySelector('#keys-chart polyline').points.length")
                .asInt())
        .isEqualTo(SNAPSHOTS + 1);
    Files.writeString(path.resolve("manifest-0000000014.bin"), "{");
    browser.await("!document.getElementById('trouble').hidden");
    assertThat(text("#trouble")).startsWith("sequence 14 of set 'phishing' cannot be used: ");
    assertThat(text("#state")).isEqualTo("ready");
    server.close();
    browser.await("!document.getElementById('lost').hidden");
    assertThat(text("#lost"))
        .isEqualTo("The service does not respond; the data shown may be outdated.");
  }

  /** Shows a different set from {@link #open}. */
  private void showInstead(KeyHash keyHash, Canonicaliser canonicaliser, String... keys)
      throws Exception {
    server.close();
    Path other = Files.createDirectory(path.resolve("other"));
    publisher = new DirectoryPublisher(other, "phishing", keyHash, canonicaliser, 4);
    publisher.publish(1, keys);
    show(other, keyHash);
  }

  private static void download() throws Exception {
    browser.await("!document.getElementById('offline').hidden");
    browser.evaluate("document.getElementById('download').click()");
    browser.await(
        "document.getElementById('offline-text').innerText.includes('runs queries locally, using')");
  }

  /** Stops the service, and waits until the page has noticed. */
  private void stop() throws Exception {
    server.close();
    browser.await("!document.getElementById('lost').hidden");
  }

  @Test
  void answersWithoutTheServiceOnceItHasDownloadedTheSet() throws Exception {
    download();
    assertThat(text("#offline"))
        .startsWith("Query the service again")
        .contains("using sequence 12, ");
    publisher.publish(13, "https://example.org/b", "https://example.org/c");
    browser.await("document.getElementById('offline-text').innerText.includes('sequence 13, ')");
    assertThat(browser.complaints()).isEmpty();
    stop();
    ask("HTTPS://EXAMPLE.org:443/./b");
    assertThat(text("#answer .verdict")).startsWith("present by this page, sequence 13, window");
    assertThat(text("#answer dl")).contains("https://example.org/b");
    ask("https://example.org/a");
    assertThat(text("#answer .verdict")).startsWith("absent by this page, sequence 13, window");
    ask("http://[");
    assertThat(text("#answer .verdict")).startsWith("invalid host ");
    browser.await(
        "document.getElementById('offline-text').innerText.includes('No newer snapshot is available')");
    browser.screenshot(SCREENSHOTS.resolve("offline.png"));
    browser.evaluate("document.getElementById('download').click()");
    ask("https://example.org/b");
    assertThat(text("#answer")).isEqualTo("The service does not respond.");
    assertThat(text("#download")).isEqualTo("Download the set");
  }

  @Test
  void goesOnByPacksWhenTheServiceComesBack() throws Exception {
    download();
    publisher.writeManifest(publisher.writeBlobs(13, new long[0]));
    browser.await("document.getElementById('offline-text').innerText.includes('sequence 13, ')");
    ask("https://example.org/a");
    assertThat(text("#answer .verdict")).startsWith("absent by this page, sequence 13");
    Files.writeString(path.resolve("manifest-0000000014.bin"), "damaged");
    browser.await("!document.getElementById('trouble').hidden");
    ask("https://example.org/a");
    assertThat(text("#answer .verdict")).startsWith("absent by this page, sequence 13");
    assertThat(browser.complaints()).isEmpty();
  }

  @Test
  void matchesUrlsByAListThatItHasDownloaded() throws Exception {
    showInstead(
        KeyHash.fixed(), Canonicaliser.URL_EXPRESSION, "s2-citi.com/", "example.org/under/");
    ask("https://www.S2-citi.com:8443/login?x=1#top");
    assertThat(text("#answer .verdict")).startsWith("present by sequence 1, window");
    assertThat(text("#answer dl")).contains("Listed by\ns2-citi.com/");
    ask("http://citi.com/");
    assertThat(text("#answer .verdict")).startsWith("absent by sequence 1, window");
    download();
    assertThat(browser.complaints()).isEmpty();
    stop();
    ask("https://www.S2-citi.com:8443/login?x=1#top");
    assertThat(text("#answer .verdict")).startsWith("present by this page, sequence 1, window");
    assertThat(text("#answer dl"))
        .contains("www.s2-citi.com:8443/login?x=1", "Listed by\ns2-citi.com/");
    ask("http://a.example.org/under/b");
    assertThat(text("#answer dl")).contains("Listed by\nexample.org/under/");
    for (String absent : List.of("http://example.org/other", "http://citi.com/", "http://com/")) {
      ask(absent);
      assertThat(text("#answer .verdict")).startsWith("absent by this page, sequence 1, window");
    }
  }

  @Test
  void asksAnAllowSetForKeysAndAListForUrls() throws Exception {
    server.close();
    List<SetSource> sources = new ArrayList<>();
    for (String set : List.of("phishing", "ours")) {
      Path directory = Files.createDirectory(path.resolve("lists-" + set));
      new DirectoryPublisher(directory, set, KeyHash.fixed(), Canonicaliser.URL_EXPRESSION, 4)
          .publish(1, set + ".example/");
      sources.add(source(directory, set, KeyHash.fixed()));
    }
    server = SnapshotServer.start(options(), sources, Set.of("ours"), new ServiceLog() {});
    openPage();
    ask("https://www.phishing.example/a");
    assertThat(text("#answer dl")).contains("Listed by\nphishing.example/");
    browser.evaluate(
        "document.getElementById('set').value = 'ours';"
            + "document.getElementById('set').dispatchEvent(new Event('change'))");
    browser.await("document.getElementById('key-label').textContent === 'Key'");
    ask("ours.example");
    assertThat(text("#answer .verdict")).startsWith("present by sequence 1, window");
    assertThat(text("#answer dl")).contains("Canonical form\nours.example/");
    assertThat(browser.complaints()).isEmpty();
  }

  /** Its Unicode version differs from the versions of Node and the JDK. */
  @Test
  void aBrowserGivesTheFormsOfTheVectors() throws Exception {
    requireForms("url", "url-2");
    requireForms("url-3", "url");
    requireForms("url-expression", "url-expression-1");
    requireForms("url-expression-2", "url-expression");
    requireForms("text", "text");
  }

  private static void requireForms(String file, String rule) throws Exception {
    JsonNode keys =
        new ObjectMapper()
            .readTree(Path.of("../conformance/vectors", file + ".json").toFile())
            .required("keys");
    JsonNode wrong =
        browser.evaluate(
            """
            import(location.origin + "/firstseen/index.js").then(({ canonical }) => {
              const wrong = [];
              for (const { key, keyHex, form, strip } of %s) {
                const bytes = key ?? Uint8Array.from(keyHex.match(/../g), (pair) => parseInt(pair, 16));
                let found = null;
                try {
                  found = new TextDecoder().decode(canonical("%s", bytes, { strip }));
                } catch (failure) {
                  if (failure.name !== "InvalidKeyError") throw failure;
                }
                if (found !== form) wrong.push([key ?? keyHex, form, found]);
              }
              return wrong;
            })
            """
                .formatted(keys, rule));
    assertThat(keys).hasSizeGreaterThan(20);
    assertThat(wrong.isArray()).isTrue();
    assertThat(wrong).as(file).isEmpty();
  }

  /** With the secret the page could craft keys that the dedup takes for others. */
  @Test
  void offersNoDownloadOfASetUnderASecretKey() throws Exception {
    KeyHash secret = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
    showInstead(secret, Canonicaliser.URL, "https://example.org/a");
    ask("https://example.org/a");
    assertThat(text("#answer .verdict")).startsWith("present by sequence 1,");
    publisher.publish(2, "https://example.org/b");
    // So the page has seen the manifest, and has shown what it made of it.
    browser.await(
        "document.getElementById('figures').innerText.includes('until 1970-01-01 00:02')");
    assertThat(browser.evaluate("document.getElementById('offline').hidden").asBoolean()).isTrue();
    stop();
    ask("https://example.org/b");
    assertThat(text("#answer")).isEqualTo("The service does not respond.");
  }

  @Test
  void isLegibleOnEveryScreen() throws Exception {
    download();
    assertLegible(1100, false);
    assertLegible(320, true);
  }

  @Tag("slow")
  @Test
  void isLegibleInTheOtherColours() throws Exception {
    download();
    assertLegible(1100, true);
    assertLegible(320, false);
  }

  private void assertLegible(int width, boolean dark) throws Exception {
    browser.become(width, 900, dark);
    ask("https://example.org/" + "very-long-".repeat(30));
    browser.evaluate("document.querySelector('details').open = true");
    browser.screenshot(SCREENSHOTS.resolve(width + (dark ? "-dark" : "-light") + ".png"));
    assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
        .isLessThanOrEqualTo(width);
    assertThat(browser.evaluate(LOWEST_CONTRAST).asDouble()).isGreaterThanOrEqualTo(4.5);
    // Every field has a label, and everything that can be pressed has a name.
    assertThat(
            browser
                .evaluate(
                    "Array.from(document.querySelectorAll('input, select'))"
                        + ".every((e) => e.labels.length === 1)"
                        + " && Array.from(document.querySelectorAll('button, a, summary'))"
                        + ".every((e) => e.innerText.trim())")
                .asBoolean())
        .isTrue();
  }
}
