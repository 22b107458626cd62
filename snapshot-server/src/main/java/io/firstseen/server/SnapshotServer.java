package io.firstseen.server;

import io.firstseen.server.http.HttpService;
import io.firstseen.server.http.RequestObserver;
import io.firstseen.server.http.Route;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Follows sets, and serves queries over HTTP for keys in the sets and for entries that list a URL,
 * from {@link #start} until {@link #close}.
 */
public final class SnapshotServer implements Closeable {
  private final ServerOptions options;
  private final ServedSets sets;
  private final HttpService http;
  private volatile boolean endsSoon;

  private SnapshotServer(
      ServerOptions options, List<SetSource> sources, Set<String> allow, ServiceLog log)
      throws IOException {
    this.options = options;
    ServiceMetrics metrics = new ServiceMetrics();
    this.sets = new ServedSets(sources, allow, options, log);
    this.http =
        new HttpService(
            options.address(),
            options.limits(),
            options.access(),
            options.grace(),
            new Both(metrics, log),
            routes(metrics));
    metrics.watch(sets, http::connections);
    sets.start();
  }

  /** Like {@link #start(ServerOptions, List, Set, ServiceLog)} without allow sets. */
  public static SnapshotServer start(ServerOptions options, List<SetSource> sources, ServiceLog log)
      throws IOException {
    return start(options, sources, Set.of(), log);
  }

  /**
   * Starts to follow and to listen. Returns immediately, before the sets can be queried.
   *
   * @param sources at least one source, with different names
   * @param allow the names of the allow sets: a URL that an allow set lists is not present, even if
   *     lists contain it
   * @param log receives snapshots, problems, and every request
   * @throws IOException if the address cannot be bound
   */
  public static SnapshotServer start(
      ServerOptions options, List<SetSource> sources, Set<String> allow, ServiceLog log)
      throws IOException {
    Set<String> names = sources.stream().map(SetSource::setName).collect(Collectors.toSet());
    if (sources.isEmpty() || names.size() != sources.size()) {
      throw new IllegalArgumentException(
          "there must be at least one source, and none twice, got " + sources.size());
    }
    if (!names.containsAll(allow)) {
      throw new IllegalArgumentException(
          "allow sets must be among the sources " + names + ", got " + allow);
    }
    return new SnapshotServer(options, sources, allow, log);
  }

  private List<Route> routes(ServiceMetrics metrics) {
    int maxBatch = options.maxBatchKeys();
    ContainsEndpoint contains = new ContainsEndpoint(sets, metrics, maxBatch);
    MatchEndpoint match = new MatchEndpoint(sets, metrics, maxBatch);
    ResemblesEndpoint resembles = new ResemblesEndpoint(sets, metrics, maxBatch);
    PageEndpoint page = new PageEndpoint();
    HealthEndpoints health = new HealthEndpoints(sets, () -> endsSoon);
    return List.of(
        Route.get("contains", "/v1/contains", contains::one),
        Route.post("contains_batch", "/v1/contains", contains::batch),
        Route.get("match", "/v1/match", match::one),
        Route.post("match_batch", "/v1/match", match::batch),
        Route.get("resembles", "/v1/resembles", resembles::one),
        Route.post("resembles_batch", "/v1/resembles", resembles::batch),
        Route.get("manifest", "/v1/manifest", new ManifestEndpoint(sets)).slow(),
        Route.get(
                "blobs",
                BlobEndpoint.PATH,
                new BlobEndpoint(sets, !options.access().tokens().areNeeded()))
            .slow(),
        Route.get("status", "/v1/status", new StatusEndpoint(sets, System.currentTimeMillis()))
            .slow(),
        Route.get("healthz", "/healthz", health::health).forHealth(),
        Route.get("readyz", "/readyz", health::readiness).forHealth(),
        Route.get("metrics", "/metrics", metrics::scrape).slow(),
        Route.get("page", "/", page).open(),
        Route.get("page", "/page.css", page).open(),
        Route.get("page", "/page.js", page).open(),
        Route.get("page", "/offline.js", page).open(),
        Route.get("page", PageEndpoint.MODULES, page).open());
  }

  private record Both(RequestObserver first, RequestObserver second) implements RequestObserver {
    @Override
    public void onRequest(Answered request) {
      first.onRequest(request);
      second.onRequest(request);
    }

    @Override
    public void onConnectionRefused() {
      first.onConnectionRefused();
      second.onConnectionRefused();
    }
  }

  /** Returns the address that it listens on. */
  public InetSocketAddress address() {
    return http.address();
  }

  /**
   * Returns why no set can ever be queried with this configuration, such as its hash key; empty if
   * a set can be queried or may become available.
   */
  public Optional<String> unusable() {
    return sets.unusable();
  }

  /**
   * Stops the server. {@code /readyz} fails immediately; new requests are accepted for {@link
   * ServerOptions#drain}; then running requests are completed, for at most {@link
   * ServerOptions#grace}.
   */
  @Override
  public void close() {
    endsSoon = true;
    try {
      TimeUnit.MILLISECONDS.sleep(options.drain().toMillis());
    } catch (InterruptedException e) {
      // Interrupted: stop without draining.
      Thread.currentThread().interrupt();
    }
    http.close();
    sets.close();
  }
}
