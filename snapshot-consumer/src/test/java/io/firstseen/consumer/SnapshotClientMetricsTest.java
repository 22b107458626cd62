package io.firstseen.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The meters report the client's activity. */
class SnapshotClientMetricsTest {
  private static final String SET = "spam";
  private static final long START_MILLIS = 1_000_000;
  private static final Path PAGE = Path.of("..", "docs", "operations", "metrics.md");

  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final AtomicLong clock = new AtomicLong(START_MILLIS);
  private final TestPublisher publisher = TestPublisher.of(SET, 4).publishingAt(clock::get);
  private long offset;

  private SnapshotClient client() {
    return new SnapshotClient(
        SnapshotClientOptions.builder("localhost:9092", SET)
            .staleAfter(Duration.ofSeconds(60))
            .build(),
        clock::get);
  }

  private void read(SnapshotClient client, List<TestPublisher.Entry> entries) {
    for (TestPublisher.Entry entry : entries) {
      client.reader().accept(offset++, entry.key(), entry.value());
    }
    client.reader().tick();
  }

  private double gauge(String name) {
    return registry.get("firstseen.snapshot." + name).tag("set", SET).gauge().value();
  }

  private double count(String name) {
    return registry.get("firstseen.snapshot." + name).tag("set", SET).functionCounter().count();
  }

  private String state() {
    List<String> states =
        registry.get("firstseen.snapshot.state").tag("set", SET).gauges().stream()
            .filter(gauge -> gauge.value() == 1)
            .map(gauge -> gauge.getId().getTag("state"))
            .toList();
    assertThat(states).hasSize(1);
    return states.get(0);
  }

  @Test
  void theMetersFollowTheClient() {
    SnapshotClient client = client();
    SnapshotClientMetrics.of(client).bindTo(registry);
    assertThat(state()).isEqualTo("empty");
    for (String ofSnapshot : List.of("age", "sequence", "keys", "bytes", "load")) {
      assertThat(gauge(ofSnapshot)).as(ofSnapshot).isNaN();
    }
    assertThat(count("loaded")).isZero();

    read(client, publisher.publish(7, "a", "b").entries());
    assertThat(state()).isEqualTo("loading");
    assertThat(gauge("keys")).isNaN();
    client.reader().settle();
    clock.addAndGet(2500);
    assertThat(state()).isEqualTo("ready");
    assertThat(gauge("age")).isEqualTo(2.5);
    assertThat(gauge("sequence")).isEqualTo(7);
    assertThat(gauge("keys")).isEqualTo(2);
    assertThat(gauge("bytes")).isPositive().isEqualTo((double) client.metrics().setBytes());
    assertThat(gauge("load")).isNotNegative();
    assertThat(count("loaded")).isEqualTo(1);
    assertThat(count("refused")).isZero();
    assertThat(count("read")).isPositive().isEqualTo((double) client.metrics().readBytes());
    assertThat(count("fetched")).isPositive().isEqualTo((double) client.metrics().fetchedBytes());

    client.reader().accept(offset++, SET, "no manifest".getBytes(StandardCharsets.UTF_8));
    client.reader().settle();
    assertThat(count("refused")).isEqualTo(1);
    clock.addAndGet(60_000);
    assertThat(state()).isEqualTo("stale");
    assertThat(gauge("age")).isEqualTo(62.5);
    client.close();
    assertThat(state()).isEqualTo("closed");
    assertThat(gauge("keys")).isNaN();
  }

  @Test
  void furtherTagsKeepClientsOfOneNameApart() {
    SnapshotClient one = client();
    SnapshotClient other = client();
    SnapshotClientMetrics.of(one, Tags.of("place", "one")).bindTo(registry);
    SnapshotClientMetrics.of(other, Tags.of("place", "other")).bindTo(registry);
    read(other, publisher.publish(1, "a").entries());
    other.reader().settle();
    assertThat(
            registry
                .get("firstseen.snapshot.keys")
                .tags("set", SET, "place", "one")
                .gauge()
                .value())
        .isNaN();
    assertThat(
            registry
                .get("firstseen.snapshot.keys")
                .tags("set", SET, "place", "other")
                .gauge()
                .value())
        .isEqualTo(1);
  }

  @Test
  void aDirectoryHasTheSameMeters(@TempDir Path path) throws Exception {
    TestPublisher.Publication publication = publisher.publish(3, "a", "b", "c");
    SnapshotDirectory directory = new SnapshotDirectory(path);
    for (TestPublisher.Entry blob : publication.chunks()) {
      directory.writeBlob(Sha256.hex(blob.value()), blob.value());
    }
    directory.writeManifest(publication.manifest());
    CountDownLatch answers = new CountDownLatch(1);
    SnapshotListener listener =
        new SnapshotListener() {
          @Override
          public void onSnapshot(Manifest manifest) {
            answers.countDown();
          }
        };
    try (FollowedDirectory followed =
        FollowedDirectory.builder(path, SET).listener(listener).start()) {
      SnapshotClientMetrics.of(followed).bindTo(registry);
      assertThat(answers.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(state()).isEqualTo("ready");
      assertThat(gauge("keys")).isEqualTo(3);
      assertThat(count("loaded")).isEqualTo(1);
      assertThat(count("read")).isZero();
    }
  }

  @Test
  void thePageNamesEveryMeter() throws IOException {
    SnapshotClient client = client();
    SnapshotClientMetrics.of(client).bindTo(registry);
    Map<String, String> meters = new TreeMap<>();
    for (Meter meter : registry.getMeters()) {
      String unit = meter.getId().getBaseUnit();
      meters.put(
          meter.getId().getName(),
          (meter.getId().getType() == Meter.Type.COUNTER ? "counter" : "gauge")
              + " in "
              + (unit == null ? "" : unit));
    }
    Map<String, String> documented = new TreeMap<>();
    Matcher rows =
        Pattern.compile("(?m)^\\| `(firstseen\\.[\\w.]+)` \\| (\\w+) \\| (\\w*) ?\\|")
            .matcher(Files.readString(PAGE));
    while (rows.find()) {
      documented.put(rows.group(1), rows.group(2) + " in " + rows.group(3));
    }
    assertThat(documented).isEqualTo(meters);
  }

  /** The dashboard and the alerts in {@code deploy/} use these names. */
  @Test
  void prometheusShowsThemByTheseNames() {
    PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    SnapshotClient client = client();
    SnapshotClientMetrics.of(client).bindTo(prometheus);
    List<String> names =
        Pattern.compile("(?m)^# TYPE (\\S+) ")
            .matcher(prometheus.scrape())
            .results()
            .map(type -> type.group(1))
            .toList();
    assertThat(names)
        .containsExactlyInAnyOrder(
            "firstseen_snapshot_state",
            "firstseen_snapshot_age_seconds",
            "firstseen_snapshot_sequence",
            "firstseen_snapshot_keys",
            "firstseen_snapshot_bytes",
            "firstseen_snapshot_load_seconds",
            "firstseen_snapshot_loaded_total",
            "firstseen_snapshot_refused_total",
            "firstseen_snapshot_outages_total",
            "firstseen_snapshot_read_bytes_total",
            "firstseen_snapshot_fetched_bytes_total");
    assertThat(prometheus.scrape())
        .contains("firstseen_snapshot_state{set=\"spam\",state=\"empty\"} 1");
  }

  /** Programs without Micrometer must not need it. */
  @Test
  void noOtherClassKnowsMicrometer() throws IOException {
    try (Stream<Path> classes = Files.walk(Path.of("target", "classes"))) {
      List<String> knowing =
          classes
              .filter(file -> file.toString().endsWith(".class"))
              .filter(SnapshotClientMetricsTest::knowsMicrometer)
              .map(file -> file.getFileName().toString())
              .toList();
      assertThat(knowing).containsExactly("SnapshotClientMetrics.class");
    }
  }

  private static boolean knowsMicrometer(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1).contains("io/micrometer");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
