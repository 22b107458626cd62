package io.firstseen.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.fuzz.Bounds;
import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.EmbeddedPeer;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpLimits;
import io.firstseen.server.http.HttpService;
import io.firstseen.server.http.RequestObserver;
import io.firstseen.server.http.Route;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Requests to the service, including queries and batches, as the bytes of a connection: every
 * response has status 200 or a client error, never 500; no request fails, and all memory of bodies
 * is returned.
 */
class RequestFuzzTest {
  /**
   * A request of about 20 bytes gets a reply with headers. Jazzer's hooks also allocate: the rules
   * for keys take 8 kB for a key of 371 bytes, but a request with such a key took 2.9 MB here.
   */
  private static final long FACTOR = 16_384;

  /** Two connections with their handlers and buffers. */
  private static final long SPARE_BYTES = 2 << 20;

  private static final Set<Integer> STATUSES =
      Set.of(100, 200, 206, 304, 400, 404, 405, 413, 414, 415, 416, 417, 421, 431, 503);

  /** Bodies quote requests, but do not add line breaks. */
  private static final Pattern STATUS_LINE =
      Pattern.compile("HTTP/1\\.[01] ([0-9]{3}) [A-Za-z -]+\r\n");

  private static final int MAX_BATCH_KEYS = 50;
  private static final HttpService SERVICE;

  static {
    try {
      SERVICE = start();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static HttpService start() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("requests");
    List<SetSource> sources = new ArrayList<>();
    for (String set : List.of("spam", "ours")) {
      Path snapshots = directory.resolve(set);
      long[] hashes =
          Stream.of("example.com/", "login.example/a")
              .mapToLong(key -> KeyHash.fixed().hash(key.getBytes(UTF_8)))
              .toArray();
      SnapshotDirectory out = new SnapshotDirectory(snapshots);
      out.writeManifest(
          new SetPublisher(
                  set,
                  SetParameters.of(
                      KeyHash.fixed(), Canonicaliser.URL_EXPRESSION, new Shards(2), 1e-9))
              .publish(1, 0, 1, hashes)
              .writeBlobs(out)
              .manifest());
      sources.add(
          SetSource.directory(snapshots, set, KeyHash.fixed(), List.of(), Optional.empty()));
    }
    CountDownLatch ready = new CountDownLatch(sources.size());
    ServedSets sets =
        new ServedSets(
            sources,
            Set.of("ours"),
            ServerOptions.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            new ServiceLog() {
              @Override
              public void onSnapshot(String set, Manifest manifest) {
                ready.countDown();
              }
            });
    sets.start();
    ready.await();
    ServiceMetrics metrics = new ServiceMetrics();
    ContainsEndpoint contains = new ContainsEndpoint(sets, metrics, MAX_BATCH_KEYS);
    MatchEndpoint match = new MatchEndpoint(sets, metrics, MAX_BATCH_KEYS);
    HealthEndpoints health = new HealthEndpoints(sets, () -> false);
    return new HttpService(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        HttpLimits.DEFAULT,
        Access.by(AllowedHosts.any()),
        Duration.ofSeconds(1),
        new RequestObserver() {},
        List.of(
            Route.get("contains", "/v1/contains", contains::one),
            post("/v1/contains", contains::batch),
            Route.get("match", "/v1/match", match::one),
            post("/v1/match", match::batch),
            Route.get("manifest", "/v1/manifest", new ManifestEndpoint(sets)),
            Route.get("blobs", BlobEndpoint.PATH, new BlobEndpoint(sets, true)),
            Route.get("healthz", "/healthz", health::health).forHealth(),
            Route.get("readyz", "/readyz", health::readiness).forHealth()));
  }

  /** A route that responds in the calling thread, unlike a service's routes. */
  private static Route post(String path, Endpoint endpoint) {
    return new Route("batch", path, List.of("POST"), false, false, false, endpoint);
  }

  @FuzzTest
  void request(byte[] input) throws Exception {
    Bounds.hold(
        input.length,
        FACTOR,
        SPARE_BYTES,
        () -> {
          // The boundary between the two parts must not matter.
          String replies = EmbeddedPeer.ask(SERVICE, input, input.length);
          check(replies);
          String inParts = EmbeddedPeer.ask(SERVICE, input, input.length / 2);
          check(inParts);
        });
  }

  private static void check(String replies) {
    Matcher line = STATUS_LINE.matcher(replies);
    while (line.find()) {
      if (!STATUSES.contains(Integer.parseInt(line.group(1)))) {
        throw new AssertionError(
            "a reply must not have the status " + line.group(1) + ": " + replies);
      }
    }
  }
}
