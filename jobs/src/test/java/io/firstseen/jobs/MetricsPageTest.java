package io.firstseen.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.events.EventParser;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.files.OutcomeFiles;
import io.firstseen.jobs.files.SnapshotFiles;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.serializers.SourceEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.OperatorMetricGroup;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table of metrics in {@code docs/operations/metrics.md} against what whole jobs register. */
class MetricsPageTest {
  private static final Path PAGE = Path.of("..", "docs", "operations", "metrics.md");
  private static final Pattern ROW =
      Pattern.compile(
          "(?m)^\\| (?:`([^`]+)`[^|]*)?\\| `(\\w+)` \\| (\\w+) \\| ([^|]+) \\| ([^|]+) \\|$");
  private static final String NOT_ON_THE_HEAP = "not with the heap backend";
  private static final String WITH_A_TTL = "with a ttl";
  private static final String IN_AN_EXACT_MODE = "only in an exact mode";
  private static final String WITH_AN_AUDIT = "only with an audit";
  private static final String AND_NEAR = "and `--near`";
  private static final String ON_KAFKA = "only on Kafka";
  private static final String SET = "domains";

  /** An operator that registers no metrics itself: all its metrics are Flink's. */
  private static final String PLAIN = "plain";

  @TempDir private Path directory;

  @Test
  void theTableHasEveryMetricOfTheJobs() throws Exception {
    Map<String, String> ofSnapshotJob = kinds(snapshots());
    Map<String, String> onHeap = kinds(pipeline("heap"));
    Map<String, String> onRocksDb = kinds(pipeline("rocksdb"));
    assertThat(onHeap.size()).isLessThan(onRocksDb.size());
    onHeap.putAll(ofSnapshotJob);
    assertThat(onHeap)
        .isEqualTo(
            documented(
                page(), ON_KAFKA, NOT_ON_THE_HEAP, IN_AN_EXACT_MODE, WITH_AN_AUDIT, WITH_A_TTL));
    onRocksDb.putAll(ofSnapshotJob);
    assertThat(onRocksDb)
        .isEqualTo(documented(page(), ON_KAFKA, IN_AN_EXACT_MODE, WITH_AN_AUDIT, WITH_A_TTL));
    Map<String, String> exact = kinds(pipeline("rocksdb", "--mode=exact", "--ttl=1d"));
    assertThat(exact).containsKey("firstseen-dedup expired");
    assertThat(exact.size()).isGreaterThan(onRocksDb.size() - ofSnapshotJob.size());
    exact.putAll(ofSnapshotJob);
    assertThat(exact).isEqualTo(documented(page(), ON_KAFKA, WITH_AN_AUDIT));
    Map<String, String> audited = kinds(pipeline("rocksdb", "--audit-slice"));
    assertThat(audited.size()).isGreaterThan(onRocksDb.size() - ofSnapshotJob.size());
    audited.putAll(ofSnapshotJob);
    assertThat(audited)
        .isEqualTo(documented(page(), ON_KAFKA, IN_AN_EXACT_MODE, WITH_A_TTL, AND_NEAR));
    Map<String, String> near =
        kinds(pipeline("rocksdb", "--audit-slice", "--near=short", "--canonicaliser=text"));
    assertThat(near.size()).isGreaterThan(audited.size() - ofSnapshotJob.size());
    near.putAll(ofSnapshotJob);
    assertThat(near).isEqualTo(documented(page(), ON_KAFKA, IN_AN_EXACT_MODE, WITH_A_TTL));
  }

  @Test
  void aRowThatIsGoneOrAnotherShows() throws IOException {
    Map<String, String> documented = documented(page());
    assertThat(documented).hasSizeGreaterThan(15).containsEntry("firstseen-dedup keys", "gauge");
    String without = page().replaceAll("(?m)^.*`keys` \\| gauge.*\n", "");
    assertThat(documented(without)).doesNotContainKey("firstseen-dedup keys");
    String otherKind = page().replace("`keys` | gauge", "`keys` | counter");
    assertThat(documented(otherKind)).containsEntry("firstseen-dedup keys", "counter");
    String otherName = page().replace("`keys` | gauge", "`keyCount` | gauge");
    assertThat(documented(otherName)).containsEntry("firstseen-dedup keyCount", "gauge");
  }

  @Test
  void thePageCacheIsAsLargeAsTheOptionSays() throws Exception {
    String hits = "firstseen-dedup cacheHits";
    assertThat(((Counter) pipeline("rocksdb").get(hits)).getCount()).isPositive();
    assertThat(((Counter) pipeline("rocksdb", "--page-cache=0").get(hits)).getCount()).isZero();
  }

  @Test
  void eventsThatCannotBeUsedAreCountedByKind() throws Exception {
    Path input = directory.resolve("events.tsv");
    List<String> events = new ArrayList<>(List.of("1\tadd\tgood", "-1\tadd\tk", "1\tadd\t", "x"));
    long hoursAhead = Instant.now().plus(Duration.ofHours(3)).getEpochSecond();
    events.addAll(Collections.nCopies(4, hoursAhead + "\tadd\tahead"));
    events.addAll(Collections.nCopies(2, "1\tmove\tk"));
    Files.write(input, events);
    EventParser parser = new EventParser(Duration.ofHours(1), Clock.systemUTC());
    Map<String, Metric> dedup = pipeline(EventFiles.source(input, FileFormat.TSV, parser), "heap");
    assertCounted(dedup, "firstseen-identify");
    assertThat(count(dedup, "firstseen-identify deadLetters")).isEqualTo(9);
    Map<String, Metric> snapshots = snapshots(EventFiles.source(input, FileFormat.TSV, parser));
    assertCounted(snapshots, "events-well-formed");
    assertThat(count(snapshots, "events-well-formed passedOver")).isEqualTo(9);
  }

  private static void assertCounted(Map<String, Metric> metrics, String operator) {
    assertThat(count(metrics, operator + " tooFarAhead")).isEqualTo(4);
    assertThat(count(metrics, operator + " badTime")).isEqualTo(1);
    assertThat(count(metrics, operator + " badKey")).isEqualTo(1);
    assertThat(count(metrics, operator + " malformed")).isEqualTo(3);
  }

  private static long count(Map<String, Metric> metrics, String name) {
    return ((Counter) metrics.get(name)).getCount();
  }

  private static String page() throws IOException {
    return Files.readString(PAGE);
  }

  /** Kinds of metrics in the table by operator and name, without rows that contain one of these. */
  private static Map<String, String> documented(String page, String... without) {
    Map<String, String> kinds = new TreeMap<>();
    String operator = "";
    Matcher rows = ROW.matcher(page);
    while (rows.find()) {
      operator = rows.group(1) == null ? operator : rows.group(1);
      if (Arrays.stream(without).noneMatch(rows.group(5)::contains)) {
        String metric = operator.replace("<set>", SET) + " " + rows.group(2);
        assertThat(kinds.put(metric, rows.group(3))).as("twice: %s", metric).isNull();
      }
    }
    return kinds;
  }

  private static Map<String, String> kinds(Map<String, Metric> metrics) {
    Map<String, String> kinds = new TreeMap<>();
    metrics.forEach((name, metric) -> kinds.put(name, kind(metric)));
    return kinds;
  }

  private static String kind(Metric metric) {
    if (metric instanceof Counter) {
      return "counter";
    }
    return metric instanceof Gauge ? "gauge" : metric.getClass().getSimpleName();
  }

  private Map<String, Metric> pipeline(String backend, String... more) throws Exception {
    return pipeline(source(), backend, more);
  }

  private Map<String, Metric> pipeline(
      Source<SourceEvent, ?, ?> source, String backend, String... more) throws Exception {
    String[] words = {"--state-backend=" + backend, "--window=1d", "--set=" + SET};
    String[] all = Stream.concat(Arrays.stream(words), Arrays.stream(more)).toArray(String[]::new);
    return metricsOf(
        env ->
            PipelineJob.build(
                env,
                source,
                OutcomeFiles.sinks(
                    FileFormat.LINES,
                    directory.resolve("out"),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty()),
                new SnapshotFiles(Files.createTempDirectory(directory, "snapshots")),
                JobOptions.parse(all)));
  }

  private Map<String, Metric> snapshots() throws Exception {
    return snapshots(source());
  }

  private Map<String, Metric> snapshots(Source<SourceEvent, ?, ?> source) throws Exception {
    return metricsOf(
        env ->
            SnapshotJob.build(
                env,
                source,
                new SnapshotFiles(Files.createTempDirectory(directory, "snapshots")),
                JobOptions.parse("--window=1d", "--set=" + SET)));
  }

  private Source<SourceEvent, ?, ?> source() throws IOException {
    List<String> keys = IntStream.range(0, 500).mapToObj(i -> "key-" + i).toList();
    Path input = Files.write(directory.resolve("in"), keys);
    return EventFiles.source(
        input, FileFormat.LINES, new EventParser(Duration.ZERO, Clock.systemUTC()));
  }

  private interface Job {
    void build(StreamExecutionEnvironment env) throws IOException;
  }

  /**
   * The metrics, other than Flink's, of the operators between a job's source and its sinks, by
   * operator and name.
   */
  private static Map<String, Metric> metricsOf(Job job) throws Exception {
    InMemoryReporter reporter = InMemoryReporter.createWithRetainedMetrics();
    Configuration settings = new Configuration();
    settings.set(SecurityOptions.DELEGATION_TOKENS_ENABLED, false);
    reporter.addToConfiguration(settings);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(settings);
    job.build(env);
    env.fromData(1)
        .uid("plain-source")
        .map(number -> number)
        .name(PLAIN)
        .uid(PLAIN)
        .sinkTo(new DiscardingSink<>())
        .uid("plain-sink");
    env.execute("metrics");

    Map<String, Map<String, Metric>> byOperator = new TreeMap<>();
    for (Map.Entry<MetricGroup, Map<String, Metric>> group :
        reporter.getMetricsByGroup().entrySet()) {
      if (group.getKey() instanceof OperatorMetricGroup) {
        byOperator
            .computeIfAbsent(operator(group.getKey()), name -> new TreeMap<>())
            .putAll(group.getValue());
      }
    }
    assertThat(byOperator).containsKey(PLAIN);
    TreeSet<String> flinks = new TreeSet<>(byOperator.get(PLAIN).keySet());
    assertThat(flinks).contains("numRecordsIn").doesNotContain("keys");
    return byOperator.entrySet().stream()
        .filter(operator -> !operator.getKey().matches("(?i).*(source|sink|writer|committer).*"))
        .flatMap(
            operator ->
                operator.getValue().entrySet().stream()
                    .filter(metric -> !flinks.contains(metric.getKey()))
                    .map(
                        metric ->
                            Map.entry(
                                operator.getKey() + " " + metric.getKey(), metric.getValue())))
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, Map.Entry::getValue, (one, other) -> one, TreeMap::new));
  }

  private static String operator(MetricGroup group) {
    return group.getAllVariables().get("<operator_name>");
  }
}
