package io.firstseen.server;

import io.firstseen.consumer.ClientStatus;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import io.firstseen.server.http.RequestObserver;
import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The metrics of {@code /metrics}. Their names are part of the interface, {@code docs/http-api.md}.
 */
final class ServiceMetrics implements RequestObserver {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MILLIS_PER_SECOND = 1e3;

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final ExpositionFormats formats = ExpositionFormats.init();
  private final Map<String, Answers> answers = new ConcurrentHashMap<>();
  private final Map<String, RouteCounts> routes = new ConcurrentHashMap<>();
  private final Counter queries;
  private final Counter urlQueries;
  private final Counter requests;
  private final Histogram durations;
  private final Counter refusedConnections;

  private record Answers(
      CounterDataPoint present, CounterDataPoint absent, CounterDataPoint invalid) {}

  private record RouteCounts(
      DistributionDataPoint durations, Map<Integer, CounterDataPoint> byStatus) {}

  ServiceMetrics() {
    this.queries =
        counter(
            "firstseen_queries_total",
            "Queried keys and texts, by answer: present, absent, invalid.",
            "set",
            "answer");
    this.urlQueries =
        counter(
            "firstseen_url_queries_total",
            "URLs queried in a list or allow set, by answer: present, allowed, absent, invalid.",
            "set",
            "answer");
    this.requests =
        counter(
            "firstseen_http_requests_total",
            "Requests, by route and status of the response.",
            "route",
            "status");
    this.durations =
        Histogram.builder()
            .name("firstseen_http_request_duration_seconds")
            .help("Time from a request's last byte until its reply was sent, by route.")
            .unit(Unit.SECONDS)
            .labelNames("route")
            .classicOnly()
            .classicUpperBounds(
                0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 10)
            .register(registry);
    this.refusedConnections =
        counter(
            "firstseen_http_connections_refused_total",
            "Connections that were closed because there were too many, with a 503 response if possible.");
  }

  private Counter counter(String name, String help, String... labels) {
    return Counter.builder().name(name).help(help).labelNames(labels).register(registry);
  }

  /** {@code GET /metrics}: for Prometheus, in the text format that the request accepts. */
  Reply scrape(Request request) throws HttpFailure {
    request.query();
    ExpositionFormatWriter writer =
        formats.getOpenMetricsTextFormatWriter().accepts(request.header("accept"))
            ? formats.getOpenMetricsTextFormatWriter()
            : formats.getPrometheusTextFormatWriter();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      writer.write(bytes, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Reply.of(200, writer.getContentType(), bytes.toByteArray());
  }

  /** Adds the metrics that are read from the sets at each scrape. */
  void watch(ServedSets sets, IntSupplier openConnections) {
    gauge(
        sets,
        "firstseen_set_ready",
        "1 if the set can be queried, otherwise 0.",
        set -> set.whyNot(set.status()).isEmpty() ? 1 : 0);
    gauge(
        sets,
        "firstseen_source_reachable",
        "1 if the last attempt to read the topic or directory succeeded, otherwise 0.",
        set -> set.isReachable() ? 1 : 0);
    snapshotGauge(
        sets,
        "firstseen_snapshot_sequence",
        "Sequence of the active snapshot.",
        (set, snapshot) -> snapshot.manifest().sequence());
    snapshotGauge(
        sets,
        "firstseen_snapshot_window_end_timestamp_seconds",
        "End of the window of the active snapshot.",
        (set, snapshot) -> snapshot.manifest().windowEndMillis() / MILLIS_PER_SECOND);
    gauge(
        sets,
        "firstseen_snapshot_published_timestamp_seconds",
        "Publication time of the active snapshot.",
        set -> {
          ClientStatus status = set.status();
          return status.snapshot().isEmpty()
              ? Double.NaN
              : status.publishedMillis() / MILLIS_PER_SECOND;
        });
    snapshotGauge(
        sets,
        "firstseen_snapshot_keys",
        "Keys in the active snapshot.",
        (set, snapshot) -> snapshot.manifest().count());
    snapshotGauge(
        sets,
        "firstseen_snapshot_bytes",
        "Size of the active snapshot.",
        (set, snapshot) -> set.figures(snapshot).bytes());
    snapshotGauge(
        sets,
        "firstseen_snapshot_false_positive_rate",
        "Probability that a key outside the set is reported as present.",
        (set, snapshot) -> set.figures(snapshot).falsePositiveRate());
    counter(
        sets,
        "firstseen_snapshots_total",
        "Snapshots that became active since the start.",
        ServedSet::snapshots);
    counter(
        sets,
        "firstseen_refused_total",
        "Manifests and blobs that could not be used since the start.",
        ServedSet::refusals);
    GaugeWithCallback.builder()
        .name("firstseen_http_connections")
        .help("Open connections.")
        .callback(callback -> callback.call(openConnections.getAsInt()))
        .register(registry);
  }

  private void snapshotGauge(
      ServedSets sets, String name, String help, ToDoubleBiFunction<ServedSet, SnapshotSet> value) {
    gauge(
        sets,
        name,
        help,
        set ->
            set.status()
                .snapshot()
                .map(snapshot -> value.applyAsDouble(set, snapshot))
                .orElse(Double.NaN));
  }

  /** Adds a gauge per set; absent while the value is NaN. */
  private void gauge(ServedSets sets, String name, String help, ToDoubleFunction<ServedSet> value) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .labelNames("set")
        .callback(
            callback -> {
              for (ServedSet set : sets.all()) {
                double now = value.applyAsDouble(set);
                if (!Double.isNaN(now)) {
                  callback.call(now, set.name());
                }
              }
            })
        .register(registry);
  }

  private void counter(ServedSets sets, String name, String help, ToLongFunction<ServedSet> value) {
    CounterWithCallback.builder()
        .name(name)
        .help(help)
        .labelNames("set")
        .callback(
            callback ->
                sets.all()
                    .forEach(set -> callback.call((double) value.applyAsLong(set), set.name())))
        .register(registry);
  }

  void answered(ServedSet set, boolean present) {
    Answers counts = answers(set);
    (present ? counts.present() : counts.absent()).inc();
  }

  void invalidKey(ServedSet set) {
    answers(set).invalid().inc();
  }

  /** The result of looking up a URL in a list or an allow set. */
  enum UrlCount {
    /** The set lists the URL. */
    PRESENT,
    /** The list lists the URL, and an allow set also lists it. */
    ALLOWED,
    ABSENT,
    /** The URL has no canonical form. */
    INVALID;

    private final String label = name().toLowerCase(Locale.ROOT);
  }

  void count(ServedSet set, UrlCount answer) {
    urlQueries.labelValues(set.name(), answer.label).inc();
  }

  private Answers answers(ServedSet set) {
    return answers.computeIfAbsent(
        set.name(),
        name ->
            new Answers(
                queries.labelValues(name, "present"),
                queries.labelValues(name, "absent"),
                queries.labelValues(name, "invalid")));
  }

  @Override
  public void onRequest(Answered request) {
    String route = request.route();
    RouteCounts counts =
        routes.computeIfAbsent(
            route, name -> new RouteCounts(durations.labelValues(name), new ConcurrentHashMap<>()));
    counts.durations().observe(request.nanos() / NANOS_PER_SECOND);
    counts
        .byStatus()
        .computeIfAbsent(
            request.status(), code -> requests.labelValues(route, Integer.toString(code)))
        .inc();
  }

  @Override
  public void onConnectionRefused() {
    refusedConnections.inc();
  }
}
