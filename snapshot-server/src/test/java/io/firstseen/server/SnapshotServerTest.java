package io.firstseen.server;

import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.consumer.FollowedDirectory;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.BearerTokens;
import io.firstseen.server.http.HttpLimits;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The interface over HTTP, from a directory. */
class SnapshotServerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration POLL = Duration.ofMillis(10);

  @TempDir private Path path;
  private final HttpClient http = HttpClient.newHttpClient();
  private DirectoryPublisher publisher;
  private SnapshotServer server;

  @BeforeEach
  void makePublisher() {
    publisher =
        new DirectoryPublisher(path, DirectoryPublisher.SET, KeyHash.fixed(), Canonicaliser.URL, 2);
  }

  @AfterEach
  void close() {
    if (server != null) {
      server.close();
    }
  }

  private static ServerOptions options(
      boolean refuseStale, HttpLimits limits, int maxBatch, Duration drain, Duration grace) {
    return new ServerOptions(
        options().address(),
        options().access(),
        refuseStale,
        limits,
        maxBatch,
        drain,
        grace,
        Optional.empty());
  }

  private static ServerOptions options() {
    return ServerOptions.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private void start() throws Exception {
    start(options(), Optional.empty());
  }

  private void start(ServerOptions options, Optional<Duration> staleAfter) throws Exception {
    server =
        SnapshotServer.start(
            options,
            List.of(source(path, DirectoryPublisher.SET, staleAfter)),
            new ServiceLog() {});
  }

  private static SetSource source(Path path, String name, Optional<Duration> staleAfter) {
    return new SetSource.OfFiles(
        FollowedDirectory.builder(path, name).poll(POLL),
        name,
        KeyHash.fixed(),
        List.of(),
        staleAfter);
  }

  private void awaitSequence(long sequence) throws Exception {
    await("sequence " + sequence + " answers")
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              HttpResponse<byte[]> manifest = bytes("/v1/manifest");
              return manifest.statusCode() == 200
                  && Manifest.read(manifest.body()).sequence() >= sequence;
            });
  }

  private HttpRequest.Builder request(String target) {
    return HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:" + server.address().getPort() + target));
  }

  private HttpResponse<String> get(String target, String... headers) throws Exception {
    HttpRequest.Builder request = request(target);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<byte[]> bytes(String target) throws Exception {
    return http.send(request(target).build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  private Manifest manifest(String target) throws Exception {
    return Manifest.read(bytes(target).body());
  }

  private HttpResponse<String> post(String target, String type, String body, String... encodings)
      throws Exception {
    return post(target, type, body.getBytes(UTF_8), encodings);
  }

  private HttpResponse<String> post(String target, String type, byte[] body, String... encodings)
      throws Exception {
    HttpRequest.Builder request =
        request(target)
            .header("content-type", type)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    for (String encoding : encodings) {
      request.header("content-encoding", encoding);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String error(HttpResponse<String> response) throws Exception {
    JsonNode node = JSON.readTree(response.body());
    assertThat(node.size()).isEqualTo(1);
    return node.path("error").asText();
  }

  @Test
  void tellsWhetherAKeyIsThereAndByWhichSnapshot() throws Exception {
    publisher.publish(7, "https://example.org/a?b=1&c=ü");
    start();
    awaitSequence(7);
    String key = "HTTPS://EXAMPLE.org:443/a?b=1&c=ü";
    HttpResponse<String> response = get("/v1/contains?key=" + URLEncoder.encode(key, UTF_8));
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type")).contains("application/json");
    assertThat(response.headers().firstValue("cache-control")).contains("no-store");
    JsonNode answer = JSON.readTree(response.body());
    assertThat(answer.path("key").asText()).isEqualTo(key);
    assertThat(answer.path("present").asBoolean()).isFalse();
    // The canonical form of this URL differs: its query is encoded.
    JsonNode explained =
        JSON.readTree(get("/v1/contains?explain=true&key=" + URLEncoder.encode(key, UTF_8)).body());
    publisher.publish(8, explained.path("canonical").asText(), "x");
    awaitSequence(8);
    answer = JSON.readTree(get("/v1/contains?key=" + URLEncoder.encode(key, UTF_8)).body());
    assertThat(answer)
        .isEqualTo(
            JSON.createObjectNode()
                .put("key", key)
                .put("present", true)
                .put("set", "spam")
                .put("sequence", 8)
                .put("windowEndMillis", 8 * (int) DirectoryPublisher.WINDOW_MILLIS));
    assertThat(explained.path("shards").asInt()).isEqualTo(2);
    assertThat(explained.path("shard").asInt()).isBetween(0, 1);
    // Nothing that could help to choose keys that collide under a secret key.
    assertThat(explained.has("hash")).isFalse();
  }

  @Test
  void scopesAndBytesThatAreNoTextAreKeys() throws Exception {
    long scoped = KeyHash.fixed().hash(ScopedKey.join("t&t".getBytes(UTF_8), "k".getBytes(UTF_8)));
    long bytes = KeyHash.fixed().hash(new byte[] {(byte) 0xC3, 0x28, ' ', '+', 0});
    DirectoryPublisher raw =
        new DirectoryPublisher(
            path, DirectoryPublisher.SET, KeyHash.fixed(), Canonicaliser.NONE, 2);
    raw.writeManifest(raw.writeBlobs(1, new long[] {scoped, bytes}));
    start();
    awaitSequence(1);
    assertThat(present("key=k&scope=t%26t")).isTrue();
    assertThat(present("key=k")).isFalse();
    assertThat(present("key=k&scope=t")).isFalse();
    assertThat(present("key=%c3%28+%2B%00")).isTrue();
    assertThat(present("key=%c3%28%20%2B%00&set=spam")).isTrue();
    assertThat(present("key=%c3%28++%00")).isFalse();
  }

  @Test
  void filesThatAreCutInTheirPlaceChangeNoAnswer() throws Exception {
    long[] many = new Random(1).longs(100_000).toArray();
    publisher.writeManifest(publisher.writeBlobs(1, many));
    start();
    awaitSequence(1);
    for (BlobReference blob : List.of(publisher.blobs().base(0), publisher.blobs().base(1))) {
      try (FileChannel file =
          FileChannel.open(
              path.resolve("blobs").resolve(blob.digest()), StandardOpenOption.WRITE)) {
        file.truncate(blob.bytes() / 2);
      }
      assertThat(get("/v1/blobs/" + blob.digest()).statusCode()).isEqualTo(404);
    }
    assertThat(present("key=http://a.example/")).isFalse();
    publisher.publish(2, "http://a.example/");
    awaitSequence(2);
    assertThat(present("key=http://a.example/")).isTrue();
  }

  /** The answer about plain keys is not written by Jackson, but must look the same. */
  @Test
  void repliesAreTheBytesThatJacksonWrites() throws Exception {
    publisher.publish(7, "a");
    start();
    awaitSequence(7);
    List<String> keys =
        new ArrayList<>(List.of("http://a.example/?q=1&r=%C3%BC", "ü", "\uD83D\uDE00"));
    for (char c = 0; c < 0x100; c++) {
      keys.add("http://a.example/" + c + "b");
    }
    int answered = 0;
    for (String key : keys) {
      HttpResponse<String> response = get("/v1/contains?key=" + URLEncoder.encode(key, UTF_8));
      if (response.statusCode() == 200) {
        answered++;
        assertThat(response.body())
            .isEqualTo(
                JSON.createObjectNode()
                        .put("key", key)
                        .put("present", false)
                        .put("set", "spam")
                        .put("sequence", 7)
                        .put("windowEndMillis", 7 * DirectoryPublisher.WINDOW_MILLIS)
                    + "\n");
      }
    }
    assertThat(answered).isGreaterThan(200);
  }

  private boolean present(String query) throws Exception {
    HttpResponse<String> response = get("/v1/contains?" + query);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body()).path("present").asBoolean();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/v1/contains|400|the parameter key must be given",
        "/v1/contains?key=|400|the key is invalid: key is empty",
        "/v1/contains?key=a&scop=b|400|parameters must be among key, scope, set, explain; got"
            + " 'scop' (a & within a value is written %26)",
        "/v1/contains?key=a&explain=yes|400|explain must be true or false, got 'yes'",
        "/v1/contains?key=a&set=ham|404|there is no set 'ham', there is spam",
        "/v1/blobs/abc|404|a blob is named by 64 lower-case hexadecimal digits",
        "/v1/blobs/../manifest|404|a blob is named by 64 lower-case hexadecimal digits",
        "/healthz?x|400|there must be no parameters, got 'x'",
        "/v2/contains?key=a|404|there is nothing at /v2/contains",
      })
  void mistakesAreOneSentence(String target, int status, String sentence) throws Exception {
    publisher.publish(1, "a");
    start();
    awaitSequence(1);
    HttpResponse<String> response = get(target);
    assertThat(response.statusCode()).isEqualTo(status);
    assertThat(error(response)).isEqualTo(sentence);
  }

  @Test
  void aBatchIsAnsweredBySnapshotAndInOrder() throws Exception {
    publisher.publish(3, "https://example.org/a");
    start(
        options(
            false,
            HttpLimits.DEFAULT.withMaxBodyBytes(1000),
            4,
            Duration.ZERO,
            Duration.ofSeconds(1)),
        Optional.empty());
    awaitSequence(3);
    String expected =
        "{\"set\":\"spam\",\"sequence\":3,\"windowEndMillis\":180000,\"answers\":["
            + "{\"key\":\"https://EXAMPLE.org/a\",\"present\":true},"
            + "{\"key\":\"https://b\",\"present\":false},"
            + "{\"key\":\"\",\"error\":\"the key is invalid: key is empty\"}]}\n";
    assertThat(
            post(
                    "/v1/contains",
                    "application/json",
                    "[\"https://EXAMPLE.org/a\", \"https://b\", \"\"]")
                .body())
        .isEqualTo(expected);
    assertThat(
            post(
                    "/v1/contains",
                    "text/plain; charset=utf-8",
                    "\uFEFFhttps://EXAMPLE.org/a\r\nhttps://b\n\n")
                .body())
        .isEqualTo(expected);
    assertThat(JSON.readTree(post("/v1/contains", "text/plain", "").body()).path("answers"))
        .isEmpty();
    refused(post("/v1/contains", "text/plain", "a\nb\nc\nd\ne"), 413, "at most 4 keys");
    refused(post("/v1/contains", "application/json", "[1]"), 400, "element 0 of the array");
    refused(post("/v1/contains", "application/json", "{}"), 400, "must be an array of strings");
    refused(
        post("/v1/contains", "application/json", "[\"a\", \"b\\ud800\"]"),
        400,
        "element 1 of the array has half a surrogate pair");
    refused(post("/v1/contains", "application/json", "[\"a\""), 400, "but is not JSON");
    refused(post("/v1/contains", "application/json", "[] []"), 400, "must end with the array");
    refused(post("/v1/contains", "application/json", "[".repeat(900)), 400, "element 0");
    refused(post("/v1/contains", "application/xml", "a"), 415, "got 'application/xml'");
    for (String target : List.of("/v1/contains", "/v1/match")) {
      refused(post(target, "text/plain", "a", "gzip"), 415, "got the encoding 'gzip'");
      refused(post(target, "text/plain", "a", "identity", "br"), 415, "'identity, br'");
      refused(post(target, "text/plain", new byte[] {0x1F, (byte) 0x8B, 8}), 415, "gzip format");
      for (Charset charset : List.of(UTF_16BE, UTF_16LE)) {
        byte[] marked = "\uFEFFa".getBytes(charset);
        refused(post(target, "text/plain", marked), 415, "a byte order mark of utf-16");
      }
      refused(post(target, "text/plain; charset=utf-16", "a"), 415, "utf-8, got 'utf-16'");
      refused(
          post(target, "application/json;x=y; Charset = \"ISO-8859-1\"", "[]"),
          415,
          "got 'iso-8859-1'");
    }
    for (String type : List.of("text/plain;charset=UTF-8", "Text/Plain; charset=\"utf8\"")) {
      assertThat(post("/v1/contains", type, "a", "Identity").statusCode()).isEqualTo(200);
    }
    refused(post("/v1/contains", "text/plain", "x".repeat(1001)), 413, "at most 1000 bytes");
    refused(post("/v1/contains?key=a", "text/plain", "a"), 400, "parameters must be among");
  }

  private static void refused(HttpResponse<String> response, int status, String part)
      throws Exception {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(error(response)).contains(part);
  }

  @Test
  void manifestsAndBlobsAreWhatWasPublishedAndProveThemselves() throws Exception {
    SigningKey key = SigningKey.generate();
    Manifest manifest = key.sign(publisher.writeBlobs(1, "a", "b", "c", "d", "e"));
    publisher.writeManifest(manifest);
    start();
    awaitSequence(1);
    HttpResponse<byte[]> served = bytes("/v1/manifest");
    assertThat(served.body()).isEqualTo(manifest.toBytes());
    assertThat(served.headers().firstValue("content-type")).contains("application/octet-stream");
    assertThat(served.headers().firstValue("vary")).contains("accept");
    assertThat(ManifestCheck.requireSigned(served.body(), List.of(key.publicKey())))
        .isEqualTo(manifest);
    String tag = served.headers().firstValue("etag").orElseThrow();
    assertThat(get("/v1/manifest", "if-none-match", tag).statusCode()).isEqualTo(304);
    List<String> digests =
        List.copyOf(new ManifestBlobs(manifest, publisher.blobs()).named().keySet());
    assertThat(digests).hasSize(2);
    for (String digest : digests) {
      String target = "/v1/blobs/" + digest;
      byte[] blob = Files.readAllBytes(path.resolve("blobs").resolve(digest));
      HttpResponse<byte[]> whole =
          http.send(request(target).build(), HttpResponse.BodyHandlers.ofByteArray());
      assertThat(whole.body()).isEqualTo(blob);
      assertThat(Sha256.hex(whole.body())).isEqualTo(digest);
      assertThat(whole.headers().firstValue("etag")).contains('"' + digest + '"');
      assertThat(whole.headers().firstValue("cache-control"))
          .contains("public, max-age=31536000, immutable");
      // Fetched in two parts, the second only if the content is the same.
      HttpResponse<byte[]> first = part(target, "bytes=0-9");
      HttpResponse<byte[]> rest =
          part(target, "bytes=10-", "if-range", first.headers().firstValue("etag").orElseThrow());
      assertThat(first.statusCode()).isEqualTo(206);
      assertThat(rest.statusCode()).isEqualTo(206);
      byte[] joined = Arrays.copyOf(first.body(), blob.length);
      System.arraycopy(rest.body(), 0, joined, 10, rest.body().length);
      assertThat(joined).isEqualTo(blob);
      assertThat(part(target, "bytes=" + blob.length + "-").statusCode()).isEqualTo(416);
      assertThat(get(target, "if-none-match", '"' + digest + '"').statusCode()).isEqualTo(304);
      HttpResponse<String> head =
          http.send(
              request(target).method("HEAD", HttpRequest.BodyPublishers.noBody()).build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(head.headers().firstValue("content-length")).contains("" + blob.length);
    }
    assertThat(get("/v1/blobs/" + "0".repeat(64)).statusCode()).isEqualTo(404);
  }

  @Test
  void noCacheMayGiveToOthersWhatNeedsAToken() throws Exception {
    String token = "abcDEF0123456789._~+/-==";
    String target = "/v1/blobs/" + publisher.publish(1, "a").pack().digest();
    start(
        options().withAccess(new Access(AllowedHosts.any(), BearerTokens.parse(token), null)),
        Optional.empty());
    await("the blob is there")
        .atMost(Duration.ofSeconds(30))
        .until(() -> get(target, "authorization", "Bearer " + token).statusCode() == 200);
    assertThat(get(target).statusCode()).isEqualTo(401);
    HttpResponse<String> blob = get(target, "authorization", "Bearer " + token);
    assertThat(blob.headers().firstValue("cache-control"))
        .contains("private, max-age=31536000, immutable");
  }

  @Test
  void aManifestIsReadableForWhoAsksForJson() throws Exception {
    SigningKey key = SigningKey.generate();
    Manifest manifest =
        key.sign(
            publisher
                .writeBlobs(3, "a", "b")
                .withTimes(5_000, 6_000L)
                .withBlobs(path.resolve("blobs").toUri()));
    publisher.writeManifest(manifest);
    start();
    awaitSequence(3);
    ObjectNode expected = JSON.createObjectNode();
    expected.put("set", "spam").put("sequence", 3);
    expected.put("windowStartMillis", 120_000).put("windowEndMillis", 180_000);
    expected.put("publishedMillis", 5_000).put("expiresMillis", 6_000);
    expected.put("hash", "siphash-2-4");
    expected.put("keyCheck", HexFormat.of().toHexDigits(KeyHash.fixed().keyCheck()));
    expected.put("canonicaliser", "url").put("canonicaliserVersion", Canonicaliser.URL.version());
    expected.put("shards", 2).put("falsePositiveRate", 1e-9);
    expected.put("count", 2).put("root", manifest.root());
    expected
        .putObject("pack")
        .put("digest", manifest.pack().digest())
        .put("bytes", (int) manifest.pack().bytes());
    expected.put("packBytes", (int) manifest.packBytes());
    expected.put("blobs", manifest.blobs().toString());
    expected
        .putObject("signature")
        .put("key", key.publicKey().id())
        .put("value", manifest.signature().value());
    for (String accept : List.of("application/json", "text/html,*/*;q=0.8")) {
      HttpResponse<String> json = get("/v1/manifest", "accept", accept);
      assertThat(json.headers().firstValue("content-type")).contains("application/json");
      assertThat(JSON.readTree(json.body())).isEqualTo(expected);
      String tag = json.headers().firstValue("etag").orElseThrow();
      assertThat(get("/v1/manifest", "accept", accept, "if-none-match", tag).statusCode())
          .isEqualTo(304);
      assertThat(get("/v1/manifest", "if-none-match", tag).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void aSetThatStripsParametersSaysSoAndNeedsNoOption() throws Exception {
    Canonicaliser stripping = Canonicaliser.URL.stripping("utm_*,gclid");
    publisher = new DirectoryPublisher(path, DirectoryPublisher.SET, KeyHash.fixed(), stripping, 2);
    publisher.publish(1, "http://example.com/?a=1");
    start();
    awaitSequence(1);
    String key = URLEncoder.encode("http://example.com/?utm_source=x&a=1", UTF_8);
    JsonNode answer = JSON.readTree(get("/v1/contains?explain=true&key=" + key).body());
    assertThat(answer.path("present").asBoolean()).isTrue();
    assertThat(answer.path("canonical").asText()).isEqualTo("http://example.com/?a=1");
    JsonNode manifest = JSON.readTree(get("/v1/manifest", "accept", "application/json").body());
    assertThat(manifest.path("strippedParameters").asText()).isEqualTo("gclid,utm_*");
    assertThat(manifest("/v1/manifest?bases=true").parameters().canonicaliser())
        .isEqualTo(stripping);
    JsonNode status = JSON.readTree(get("/v1/status").body());
    assertThat(status.path("sets").get(0).path("strippedParameters").asText())
        .isEqualTo("gclid,utm_*");
  }

  @Test
  void aSetCanBeFetchedByItsPacksAndByBasesThatAreMadeForIt() throws Exception {
    long[] before = new Random(1).longs(2_000).toArray();
    long[] after = before.clone();
    after[0] = ~after[0];
    publisher.writeManifest(publisher.writeBlobs(1, before));
    Manifest manifest = publisher.writeBlobs(2, after);
    publisher.writeManifest(manifest);
    start();
    awaitSequence(2);
    CatchUp published = CatchUp.to(manifest("/v1/manifest"), List.of(), this::blob);
    assertThat(published.set().manifest()).isEqualTo(manifest);
    Manifest bases = manifest("/v1/manifest?bases=true");
    assertThat(bases.root()).isEqualTo(manifest.root());
    assertThat(bases.publishedMillis()).isEqualTo(manifest.publishedMillis());
    ManifestBlobs.verify(bases, this::blob);
    // A pack, a list, and a base of each shard.
    assertThat(new ManifestBlobs(bases, this::blob).named()).hasSize(4);
    SnapshotSet set = SnapshotSet.open(bases, this::blob);
    assertThat(set.mightContain(after[0])).isTrue();
    assertThat(set.mightContain(before[0])).isFalse();
    // A damaged blob is not served.
    Files.write(path.resolve("blobs").resolve(manifest.pack().digest()), new byte[] {1});
    assertThat(get("/v1/blobs/" + manifest.pack().digest()).statusCode()).isEqualTo(404);
  }

  private ByteBuffer blob(BlobReference blob) throws IOException {
    try {
      return ByteBuffer.wrap(bytesOf(blob.digest()));
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  private byte[] bytesOf(String digest) throws Exception {
    HttpResponse<byte[]> blob = bytes("/v1/blobs/" + digest);
    assertThat(blob.statusCode()).isEqualTo(200);
    assertThat(Sha256.hex(blob.body())).isEqualTo(digest);
    return blob.body();
  }

  private HttpResponse<byte[]> part(String target, String range, String... headers)
      throws Exception {
    HttpRequest.Builder request = request(target).header("range", range);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  @Test
  void aSetThatNeverHeldAKeyHasNoBases() throws Exception {
    Manifest manifest = publisher.publish(1);
    start();
    awaitSequence(1);
    assertThat(manifest("/v1/manifest?bases=true")).isEqualTo(manifest);
    assertThat(get("/v1/manifest", "accept", "application/json").body()).doesNotContain("\"pack\"");
  }

  @Test
  void anUnchangedShardKeepsItsBase() throws Exception {
    long[] many = new Random(1).longs(1_000).map(hash -> hash >>> 1).toArray();
    long[] more = LongStream.concat(LongStream.of(many), LongStream.of(-1)).toArray();
    publisher.writeManifest(publisher.writeBlobs(1, more));
    start();
    awaitSequence(1);
    Manifest first = manifest("/v1/manifest?bases=true");
    assertThat(manifest("/v1/manifest?bases=true")).isEqualTo(first);
    List<BlobReference> ofFirst = bases(first);
    publisher.writeManifest(publisher.writeBlobs(2, many));
    awaitSequence(2);
    List<BlobReference> ofSecond = bases(manifest("/v1/manifest?bases=true"));
    assertThat(ofSecond.get(0)).isEqualTo(ofFirst.get(0));
    assertThat(ofSecond.get(1)).isNotEqualTo(ofFirst.get(1));
  }

  private List<BlobReference> bases(Manifest manifest) throws Exception {
    ManifestBlobs blobs = new ManifestBlobs(manifest, this::blob);
    return blobs.baseList(blobs.newestPack()).bases();
  }

  @Test
  void manyIdleConnectionsOfOnePeerShutNobodyOut() throws Exception {
    publisher.publish(1, "a");
    start();
    awaitSequence(1);
    InetSocketAddress address = server.address();
    List<Socket> idle = new ArrayList<>();
    try {
      for (int i = 0; i < HttpLimits.DEFAULT.maxConnections(); i++) {
        idle.add(new Socket(address.getAddress(), address.getPort()));
      }
      for (String health : List.of("/healthz", "/readyz")) {
        assertThat(raw(new Socket(address.getAddress(), address.getPort()), health, "127.0.0.1"))
            .startsWith("HTTP/1.1 200 ");
      }
      if (OS.LINUX.isCurrentOs()) {
        Socket ofAnother =
            new Socket(
                address.getAddress(), address.getPort(), InetAddress.getByName("127.0.0.2"), 0);
        assertThat(raw(ofAnother, "/v1/contains?key=a", "127.0.0.1")).startsWith("HTTP/1.1 200 ");
      }
    } finally {
      for (Socket socket : idle) {
        socket.close();
      }
    }
  }

  @Test
  void aPageOfAnotherSiteWhoseNameLeadsHereIsRefused() throws Exception {
    publisher.publish(1, "a");
    start();
    awaitSequence(1);
    InetSocketAddress address = server.address();
    for (String path : List.of("/v1/contains?key=a", "/v1/manifest", "/")) {
      String answer =
          raw(new Socket(address.getAddress(), address.getPort()), path, "evil.example");
      assertThat(answer).startsWith("HTTP/1.1 421 ").contains("got 'evil.example'");
    }
    assertThat(
            raw(new Socket(address.getAddress(), address.getPort()), "/healthz", "localhost:8080"))
        .startsWith("HTTP/1.1 200 ");
  }

  private static String raw(Socket socket, String target, String host) throws Exception {
    try (socket) {
      socket.setSoTimeout(20_000);
      socket
          .getOutputStream()
          .write(
              "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
                  .formatted(target, host)
                  .getBytes(UTF_8));
      return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }
  }

  @Test
  void blobsOfTheManifestBeforeCanStillBeFetched() throws Exception {
    List<Manifest> manifests = new ArrayList<>();
    start();
    for (int sequence = 1; sequence <= 3; sequence++) {
      publisher.publish(sequence, "a" + sequence, "b" + sequence, "c" + sequence);
      awaitSequence(sequence);
      manifests.add(manifest("/v1/manifest?bases=true"));
    }
    await("the first goes")
        .atMost(Duration.ofSeconds(30))
        .until(() -> get("/v1/blobs/" + manifests.get(0).pack().digest()).statusCode() == 404);
    ManifestBlobs.verify(manifests.get(1), this::blob);
    ManifestBlobs.verify(manifests.get(2), this::blob);
  }

  @Test
  void whoAsksWhileSnapshotsAreSwappedGetsAnswersThatBelongTogether() throws Exception {
    String always = "https://example.org/always";
    String odd = "https://example.org/odd";
    String both = "[\"" + always + "\",\"" + odd + "\"]";
    publisher.publish(1, always, odd);
    start();
    awaitSequence(1);
    AtomicBoolean done = new AtomicBoolean();
    Set<Long> seen = ConcurrentHashMap.newKeySet();
    List<CompletableFuture<Void>> askers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      askers.add(
          CompletableFuture.runAsync(
              () -> {
                long before = 0;
                try {
                  while (!done.get()) {
                    JsonNode batch =
                        JSON.readTree(post("/v1/contains", "application/json", both).body());
                    long sequence = batch.path("sequence").asLong();
                    assertThat(sequence).isGreaterThanOrEqualTo(before);
                    before = sequence;
                    assertThat(batch.at("/answers/0/present").asBoolean()).isTrue();
                    assertThat(batch.at("/answers/1/present").asBoolean())
                        .isEqualTo(sequence % 2 == 1);
                    JsonNode single = JSON.readTree(get("/v1/contains?key=" + odd).body());
                    assertThat(single.path("present").asBoolean())
                        .isEqualTo(single.path("sequence").asLong() % 2 == 1);
                    seen.add(sequence);
                  }
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              }));
    }
    for (int sequence = 2; sequence <= 8; sequence++) {
      publisher.publish(sequence, always, sequence % 2 == 1 ? odd : "https://example.org/even");
      long published = sequence;
      await("sequence " + sequence + " is seen")
          .pollInterval(POLL)
          .atMost(Duration.ofSeconds(30))
          .until(() -> seen.contains(published) || askers.stream().anyMatch(Future::isDone));
    }
    done.set(true);
    for (CompletableFuture<Void> asker : askers) {
      asker.get();
    }
  }

  @Test
  void isReadyOnceAllSetsAnswer(@TempDir Path other) throws Exception {
    publisher.publish(1, "a");
    server =
        SnapshotServer.start(
            options(),
            List.of(source(path, "spam", Optional.empty()), source(other, "ham", Optional.empty())),
            new ServiceLog() {});
    await("spam answers")
        .atMost(Duration.ofSeconds(30))
        .until(() -> get("/v1/contains?key=a&set=spam").statusCode() == 200);
    assertThat(get("/healthz").statusCode()).isEqualTo(200);
    refused(
        get("/readyz"),
        503,
        "set 'ham' has no snapshot yet: the directory that the service follows holds none");
    refused(get("/v1/contains?key=a&set=ham"), 503, "set 'ham' has no snapshot yet");
    refused(get("/v1/manifest?set=ham"), 503, "set 'ham' has no snapshot yet");
    refused(get("/v1/contains?key=a"), 400, "the parameter set must be given, there are spam, ham");
    new DirectoryPublisher(other, "ham", KeyHash.fixed(), Canonicaliser.NONE, 1).publish(1, "a");
    await("all are ready")
        .atMost(Duration.ofSeconds(30))
        .until(() -> get("/readyz").statusCode() == 200);
    assertThat(get("/readyz").body()).isEqualTo("{\"status\":\"ready\"}\n");
  }

  @ParameterizedTest
  @CsvSource({"true, 503", "false, 200"})
  void aStaleSnapshotAnswersUnlessThatIsRefused(boolean refuse, int status) throws Exception {
    long threeHoursAgo = System.currentTimeMillis() - 3 * 3_600_000;
    publisher.writeManifest(publisher.writeBlobs(1, "a").withTimes(threeHoursAgo, null));
    ServerOptions options = options(refuse, HttpLimits.DEFAULT, 10, Duration.ZERO, Duration.ZERO);
    start(options, Optional.of(Duration.ofHours(1)));
    await("it is stale")
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                JSON.readTree(get("/v1/status").body())
                    .at("/sets/0/state")
                    .asText()
                    .equals("STALE"));
    assertThat(get("/readyz").statusCode()).isEqualTo(status);
    HttpResponse<String> answer = get("/v1/contains?key=a");
    assertThat(answer.statusCode()).isEqualTo(status);
    if (refuse) {
      assertThat(error(answer)).isEqualTo("set 'spam' is stale: sequence 1 was published 3 h ago");
    }
  }

  @Test
  void aSnapshotThatHasExpiredIsRefusedWithoutABoundOnItsAge() throws Exception {
    Instant published = Instant.now().minusSeconds(3 * 3_600).truncatedTo(ChronoUnit.SECONDS);
    Instant expires = published.plusSeconds(3_600);
    publisher.writeManifest(
        publisher
            .writeBlobs(1, "a")
            .withTimes(published.toEpochMilli(), Long.valueOf(expires.toEpochMilli())));
    start(options(true, HttpLimits.DEFAULT, 10, Duration.ZERO, Duration.ZERO), Optional.empty());
    await("it is stale")
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                JSON.readTree(get("/v1/status").body())
                    .at("/sets/0/state")
                    .asText()
                    .equals("STALE"));
    assertThat(JSON.readTree(get("/v1/status").body()).at("/sets/0/expiresMillis").asLong())
        .isEqualTo(expires.toEpochMilli());
    refused(
        get("/v1/contains?key=a"),
        503,
        "set 'spam' is stale: sequence 1 was published 3 h ago and expires at " + expires);
  }

  @Test
  void saysThatItEndsWhileItGoesOnUntilItIsInterrupted() throws Exception {
    publisher.publish(1, "a");
    start(
        options(false, HttpLimits.DEFAULT, 10, Duration.ofMinutes(5), Duration.ofSeconds(5)),
        Optional.empty());
    awaitSequence(1);
    assertThat(get("/readyz").statusCode()).isEqualTo(200);
    FutureTask<Void> closed = new FutureTask<>(server::close, null);
    Thread closing = new Thread(closed);
    closing.start();
    try {
      await("it reports this")
          .atMost(Duration.ofSeconds(30))
          .until(() -> get("/readyz").statusCode() == 503);
      assertThat(error(get("/readyz"))).isEqualTo("the service is shutting down");
      assertThat(get("/v1/contains?key=a").statusCode()).isEqualTo(200);
    } finally {
      closing.interrupt();
      closed.get(1, TimeUnit.MINUTES);
    }
    assertThatThrownBy(() -> get("/readyz")).isInstanceOf(ConnectException.class);
    server = null;
  }

  /** The texts and answers of the conformance suite. */
  @Test
  void findsTheLiveTextThatResemblesATextMost() throws Exception {
    Path conformance = Path.of("../conformance");
    JsonNode cases =
        JSON.readTree(conformance.resolve("cases/resembles.json").toFile()).path("cases");
    JsonNode example =
        StreamSupport.stream(cases.spliterator(), false)
            .filter(each -> each.path("request").path("scope").asText().equals("mail"))
            .findFirst()
            .orElseThrow();
    JsonNode texts = example.path("request").path("texts");
    JsonNode answer = example.path("answer");
    publisher.publish(1, "http://a/");
    String hashKey = example.path("request").path("hashKey").asText();
    Path near = conformance.resolve(example.path("request").path("directory").asText());
    server =
        SnapshotServer.start(
            options(),
            List.of(
                DirectoryPublisher.source(near, "near", KeyHash.parse(hashKey), POLL),
                source(path, DirectoryPublisher.SET, Optional.empty())),
            new ServiceLog() {});
    await().until(() -> get("/readyz").statusCode() == 200);
    JsonNode batch =
        JSON.readTree(
            post("/v1/resembles?set=near&scope=mail", "application/json", texts.toString()).body());
    assertThat(batch.path("set").asText()).isEqualTo("near");
    assertThat(batch.path("answers").size()).isEqualTo(texts.size());
    for (int i = 0; i < texts.size(); i++) {
      JsonNode one = batch.path("answers").get(i);
      int equalBands = answer.path("equalBands").get(i).asInt();
      String target =
          "/v1/resembles?set=near&scope=mail&text="
              + URLEncoder.encode(texts.get(i).asText(), UTF_8);
      if (i == answer.path("invalid").get(0).asInt()) {
        assertThat(one.path("error").asText()).isEqualTo("the text is invalid: key is empty");
        assertThat(one.has("present")).isFalse();
        assertThat(get(target).statusCode()).isEqualTo(400);
        continue;
      }
      assertThat(one)
          .isEqualTo(
              JSON.createObjectNode()
                  .put("text", texts.get(i).asText())
                  .put("present", equalBands > 0)
                  .put("equalBands", equalBands)
                  .put("bands", 16));
      ObjectNode alone = (ObjectNode) one;
      alone.put("set", "near").put("sequence", batch.path("sequence").asInt());
      alone.set("windowEndMillis", batch.path("windowEndMillis"));
      assertThat(JSON.readTree(get(target).body())).isEqualTo(alone);
    }
    assertThat(get("/metrics").body())
        .contains("firstseen_queries_total{answer=\"present\",set=\"near\"} 12.0")
        .contains("firstseen_queries_total{answer=\"invalid\",set=\"near\"} 2.0");
    HttpResponse<String> without = get("/v1/resembles?set=spam&text=a");
    assertThat(without.statusCode()).isEqualTo(400);
    assertThat(error(without))
        .isEqualTo("set 'spam' has no rule for near-duplicates: publish it with --near");
    assertThat(error(get("/v1/resembles?set=near"))).isEqualTo("the parameter text must be given");
  }

  @Test
  void thePageIsSelfContainedAndGuarded() throws Exception {
    start();
    HttpResponse<String> page = get("/");
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.headers().firstValue("content-security-policy").orElseThrow())
        .startsWith("default-src 'none';")
        .doesNotContain("unsafe")
        .doesNotContain("*");
    assertThat(page.body()).doesNotContain("http://").doesNotContain("https://");
    for (String file : List.of("/page.js", "/offline.js", "/page.css", "/firstseen/index.js")) {
      HttpResponse<String> part = get(file);
      assertThat(part.statusCode()).isEqualTo(200);
      assertThat(part.body().replace("http://www.w3.org/2000/svg", ""))
          .doesNotContain("//www")
          .doesNotContain("innerHTML")
          .doesNotContain("@import");
      assertThat(part.headers().firstValue("x-content-type-options")).contains("nosniff");
    }
  }

  @Test
  void servesTheReaderInJavaScriptAndNothingBesideIt() throws Exception {
    start();
    Path reader = Path.of("../clients/javascript");
    try (Stream<Path> modules = Files.list(reader.resolve("lib"))) {
      for (Path module : modules.toList()) {
        HttpResponse<String> served = get("/firstseen/" + reader.relativize(module));
        assertThat(served.statusCode()).isEqualTo(200);
        assertThat(served.body()).isEqualTo(Files.readString(module));
        assertThat(served.headers().firstValue("content-type"))
            .contains("text/javascript; charset=utf-8");
      }
    }
    for (String path :
        List.of(
            "",
            "lib/",
            "cli.js",
            "lib/other.js",
            "lib/../../page.js",
            "../page.js",
            "lib/%2e%2e/index.js")) {
      assertThat(get("/firstseen/" + path).statusCode()).as(path).isIn(400, 404);
    }
  }
}
