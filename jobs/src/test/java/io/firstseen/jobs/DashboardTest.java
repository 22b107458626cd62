package io.firstseen.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.events.EventParser;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.FileFormat;
import io.firstseen.jobs.files.OutcomeFiles;
import io.firstseen.jobs.files.SnapshotFiles;
import io.firstseen.jobs.options.JobOptions;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.prometheus.PrometheusReporter;
import org.apache.flink.metrics.prometheus.PrometheusReporterFactory;
import org.apache.flink.runtime.metrics.filter.ReporterFilter;
import org.apache.flink.runtime.metrics.groups.AbstractMetricGroup;
import org.apache.flink.runtime.metrics.groups.FrontMetricGroup;
import org.apache.flink.runtime.metrics.groups.ReporterScopedSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.NetUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The dashboard and the alerts ask for metrics that there are. */
class DashboardTest {
  private static final Path ROOT = Path.of("..");
  private static final Path DASHBOARD = ROOT.resolve("deploy/grafana/firstseen.json");
  private static final Path PROMETHEUS = ROOT.resolve("deploy/prometheus");
  private static final Path ALERTS = PROMETHEUS.resolve("alerts.yml");
  private static final Path PAGE = ROOT.resolve("docs/operations/metrics.md");
  private static final Path SERVICE_PAGE = ROOT.resolve("docs/http-api.md");

  private static final String OF_OPERATOR = "flink_taskmanager_job_task_operator_";
  private static final String SET = "domains";

  /** Metrics of Flink's own that the files use. */
  private static final Set<String> FLINKS =
      Set.of(
          "flink_jobmanager_job_lastCheckpointDuration",
          "flink_jobmanager_job_lastCheckpointFullSize",
          "flink_jobmanager_job_lastCheckpointSize",
          "flink_jobmanager_job_numberOfFailedCheckpoints",
          "flink_jobmanager_job_numRestarts");

  /** A metric in a query, and its labels. */
  private static final Pattern USE = Pattern.compile("\\b((?:flink|firstseen)_\\w+)(\\{[^}]*\\})?");

  private static final Pattern OPERATOR = Pattern.compile("operator_name(=~?)\"([^\"]*)\"");
  private static final Pattern JOB_ROW =
      Pattern.compile("(?m)^\\| (?:`([^`]+)`[^|]*)?\\| `(\\w+)` \\| \\w+ \\| [^|]+ \\| [^|]+ \\|$");
  private static final Pattern METER_ROW =
      Pattern.compile("(?m)^\\| `(firstseen\\.[\\w.]+)` \\| (\\w+) \\| (\\w*) ?\\|");
  private static final Pattern SERVICE_ROW =
      Pattern.compile("(?m)^\\| `(firstseen_\\w+)` \\| (\\w+) \\|");
  private static final Pattern ALERT_ROW =
      Pattern.compile("(?m)^\\| `(Firstseen\\w+)` \\| (\\w+) \\| ([^|]+) \\| [^|]+ \\|$");
  private static final Pattern METRIC = Pattern.compile("`([a-z]\\w{4,})`");

  @TempDir private Path directory;

  @Test
  void theDashboardAsksForMetricsThatThereAre() throws IOException {
    JsonNode dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
    List<String> titles = new ArrayList<>();
    Set<Integer> ids = new TreeSet<>();
    for (JsonNode panel : dashboard.get("panels")) {
      assertThat(ids.add(panel.get("id").asInt())).isTrue();
      if (!panel.get("type").asText().equals("row")) {
        titles.add(panel.get("title").asText());
        assertThat(panel.get("targets")).as(panel.get("title").asText()).isNotEmpty();
      }
    }
    assertThat(titles).doesNotHaveDuplicates().hasSizeGreaterThan(20);
    for (JsonNode variable : dashboard.get("templating").get("list")) {
      if (variable.get("type").asText().equals("query")) {
        String query = variable.get("definition").asText();
        assertThat(unknown(List.of(query))).isEmpty();
        assertThat(query).containsPattern(USE).isEqualTo(variable.at("/query/query").asText());
      }
    }
    List<String> queries = dashboardQueries();
    assertThat(queries).hasSizeGreaterThan(titles.size()).allMatch(USE.asPredicate());
    assertThat(unknown(queries)).isEmpty();
  }

  @Test
  void theAlertsAskForMetricsThatThereAre() throws IOException {
    List<String> names = rules().stream().map(rule -> (String) rule.get("alert")).toList();
    assertThat(names).doesNotHaveDuplicates().hasSizeGreaterThan(15);
    assertThat(alertQueries()).allMatch(USE.asPredicate());
    assertThat(unknown(alertQueries())).isEmpty();
    assertThat(rules())
        .allSatisfy(
            rule -> {
              assertThat(((Map<?, ?>) rule.get("labels")).get("severity")).isNotNull();
              assertThat(((Map<?, ?>) rule.get("annotations")).get("summary")).isNotNull();
            });
  }

  @Test
  void thePageListsEveryAlertWithItsSeverityAndMetrics() throws IOException {
    Map<String, Map<?, ?>> alerts = new TreeMap<>();
    rules().forEach(rule -> alerts.put((String) rule.get("alert"), rule));
    Set<String> listed = new TreeSet<>();
    Matcher rows = ALERT_ROW.matcher(Files.readString(PAGE));
    while (rows.find()) {
      String name = rows.group(1);
      assertThat(listed.add(name)).as("twice: %s", name).isTrue();
      assertThat(alerts).containsKey(name);
      Map<?, ?> rule = alerts.get(name);
      assertThat((Map<?, ?>) rule.get("labels")).extracting("severity").isEqualTo(rows.group(2));
      assertThat(METRIC.matcher(rows.group(3)).results().map(metric -> metric.group(1)))
          .as(name)
          .allMatch(
              metric -> Pattern.compile(metric + "\\b").matcher((String) rule.get("expr")).find());
    }
    assertThat(listed).isEqualTo(alerts.keySet());
  }

  @Test
  void aMetricThatThereIsNotShows() throws IOException {
    assertThat(
            unknown(
                List.of(
                    "sum(flink_taskmanager_job_task_operator_keyCount)",
                    "rate(flink_taskmanager_job_task_operator_keys{job_name=~\"$job\","
                        + " operator_name=~\".+_identify\"}[5m])",
                    "firstseen_snapshot_age",
                    "firstseen_snapshot_age_seconds > firstseen_refused",
                    "firstseen_snapshot_refused_total")))
        .containsExactly(
            "flink_taskmanager_job_task_operator_keyCount",
            "flink_taskmanager_job_task_operator_keys of .+_identify",
            "firstseen_snapshot_age",
            "firstseen_refused");
  }

  /**
   * The names that the queries use are those under which Flink's reporter shows a job's metrics.
   */
  @Test
  void flinksReporterNamesTheMetricsSo() throws Exception {
    Map<String, Set<String>> shown = shownByReporter();
    assertThat(shown.keySet()).containsAll(FLINKS);
    Map<String, Set<String>> documented = ofJobs();
    List<String> ours = shown.keySet().stream().filter(documented::containsKey).toList();
    assertThat(ours).hasSizeGreaterThan(30);
    for (String name : ours) {
      assertThat(documented.get(name)).as(name).containsAnyElementsOf(shown.get(name));
    }
    assertThat(shown.get(OF_OPERATOR + "keys")).containsExactly("firstseen_dedup");
    assertThat(shown.get(OF_OPERATOR + "liveKeys")).containsExactly(SET + "_compaction");
  }

  @Test
  void theTargetsAreServicesOfTheComposeFile() throws IOException {
    Map<?, ?> compose = (Map<?, ?>) yaml(ROOT.resolve("docker-compose.yml"));
    Map<?, ?> services = (Map<?, ?>) compose.get("services");
    Map<?, ?> prometheus = (Map<?, ?>) yaml(PROMETHEUS.resolve("prometheus.yml"));
    for (Object file : (List<?>) prometheus.get("rule_files")) {
      assertThat(PROMETHEUS.resolve((String) file)).exists();
    }
    Set<String> targets = new TreeSet<>();
    for (Object scraped : (List<?>) prometheus.get("scrape_configs")) {
      for (Object targetsOfOne : (List<?>) ((Map<?, ?>) scraped).get("static_configs")) {
        ((List<?>) ((Map<?, ?>) targetsOfOne).get("targets"))
            .forEach(target -> targets.add((String) target));
      }
    }
    assertThat(targets)
        .isNotEmpty()
        .allMatch(target -> services.containsKey(target.substring(0, target.indexOf(':'))));
    assertThat(targets).contains("jobmanager:9249", "taskmanager:9249", "serve:8080");
    String flink =
        (String)
            ((Map<?, ?>) ((Map<?, ?>) services.get("taskmanager")).get("environment"))
                .get("FLINK_PROPERTIES");
    assertThat(flink)
        .contains("factory.class: " + PrometheusReporterFactory.class.getName())
        .doesNotContain("port: 9")
        .doesNotContain("#");
    Map<?, ?> provisioned =
        (Map<?, ?>) yaml(ROOT.resolve("deploy/grafana/provisioning/dashboards/firstseen.yml"));
    String folder =
        (String)
            ((Map<?, ?>)
                    ((Map<?, ?>) ((List<?>) provisioned.get("providers")).get(0)).get("options"))
                .get("path");
    assertThat(((Map<?, ?>) services.get("grafana")).get("volumes").toString())
        .contains("firstseen.json:" + folder + "/firstseen.json");
  }

  @Test
  void promtoolAcceptsTheFiles() throws Exception {
    boolean hasPromtool =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool")));
    assumeTrue(
        hasPromtool,
        "promtool is not installed, so the alerts are not checked (Debian: apt-get install "
            + "prometheus)");
    promtool("check", "rules", ALERTS.toString());
    for (String test : List.of("alerts-test.yml", "alerts-day-test.yml")) {
      promtool("test", "rules", PROMETHEUS.resolve(test).toString());
    }
    promtool("check", "config", PROMETHEUS.resolve("prometheus.yml").toString());
    // The queries of the dashboard, as rules.
    StringBuilder rules = new StringBuilder("groups:\n  - name: dashboard\n    rules:\n");
    List<String> queries = dashboardQueries();
    for (int i = 0; i < queries.size(); i++) {
      String query = queries.get(i).replace("$__rate_interval", "5m").replace("'", "''");
      rules.append("      - record: query_%d\n        expr: '%s'\n".formatted(i, query));
    }
    Path file = Files.writeString(directory.resolve("dashboard.yml"), rules);
    promtool("check", "rules", file.toString());
  }

  private static void promtool(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("promtool"));
    command.addAll(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
  }

  private static List<String> dashboardQueries() throws IOException {
    List<String> queries = new ArrayList<>();
    for (JsonNode panel : new ObjectMapper().readTree(DASHBOARD.toFile()).get("panels")) {
      panel.path("targets").forEach(target -> queries.add(target.get("expr").asText()));
    }
    return queries;
  }

  private static List<String> alertQueries() throws IOException {
    return rules().stream().map(rule -> (String) rule.get("expr")).toList();
  }

  private static List<Map<?, ?>> rules() throws IOException {
    List<Map<?, ?>> rules = new ArrayList<>();
    for (Object group : (List<?>) ((Map<?, ?>) yaml(ALERTS)).get("groups")) {
      for (Object rule : (List<?>) ((Map<?, ?>) group).get("rules")) {
        rules.add((Map<?, ?>) rule);
      }
    }
    return rules;
  }

  private static Object yaml(Path file) throws IOException {
    return new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(file));
  }

  /** What the queries use and the pages do not name, in its order. */
  private static List<String> unknown(Collection<String> queries) throws IOException {
    Map<String, Set<String>> jobs = ofJobs();
    Set<String> others = new TreeSet<>(FLINKS);
    others.addAll(ofServiceAndClients());
    List<String> unknown = new ArrayList<>();
    for (String query : queries) {
      Matcher uses = USE.matcher(query);
      while (uses.find()) {
        String name = uses.group(1);
        if (others.contains(name)) {
          continue;
        }
        if (!jobs.containsKey(name)) {
          unknown.add(name);
          continue;
        }
        Matcher operator = OPERATOR.matcher(uses.group(2) == null ? "" : uses.group(2));
        if (operator.find() && !isOfAny(jobs.get(name), operator.group(1), operator.group(2))) {
          unknown.add(name + " of " + operator.group(2));
        }
      }
    }
    return unknown;
  }

  private static boolean isOfAny(Set<String> operators, String comparison, String value) {
    return operators.stream()
        .anyMatch(
            operator -> comparison.equals("=") ? operator.equals(value) : operator.matches(value));
  }

  /** The metrics of the jobs as Prometheus shows them, and the names of their operators. */
  private static Map<String, Set<String>> ofJobs() throws IOException {
    Map<String, Set<String>> operators = new TreeMap<>();
    String operator = "";
    Matcher rows = JOB_ROW.matcher(Files.readString(PAGE));
    while (rows.find()) {
      operator = rows.group(1) == null ? operator : rows.group(1);
      operators
          .computeIfAbsent(OF_OPERATOR + rows.group(2), name -> new TreeSet<>())
          .add(operator.replace("<set>", SET).replaceAll("[^a-zA-Z0-9:_]", "_"));
    }
    return operators;
  }

  private static Set<String> ofServiceAndClients() throws IOException {
    Set<String> names = new TreeSet<>();
    Matcher rows = SERVICE_ROW.matcher(Files.readString(SERVICE_PAGE));
    while (rows.find()) {
      names.add(rows.group(1) + (rows.group(2).equals("histogram") ? "_bucket" : ""));
    }
    // As Micrometer writes them for Prometheus.
    Matcher meters = METER_ROW.matcher(Files.readString(PAGE));
    while (meters.find()) {
      String name = meters.group(1).replace('.', '_');
      String unit = meters.group(3);
      names.add(
          (unit.isEmpty() || name.endsWith(unit) ? name : name + "_" + unit)
              + (meters.group(2).equals("counter") ? "_total" : ""));
    }
    return names;
  }

  /** What Flink's reporter shows of a job on files, and the names of the operators. */
  private Map<String, Set<String>> shownByReporter() throws Exception {
    Map<MetricGroup, Map<String, Metric>> metrics = runJob();
    Map<String, Set<String>> shown = new TreeMap<>();
    NetUtils.Port port = NetUtils.getAvailablePort();
    try {
      Properties settings = new MetricConfig();
      settings.setProperty("port", Integer.toString(port.getPort()));
      PrometheusReporter reporter = new PrometheusReporterFactory().createMetricReporter(settings);
      try {
        for (Map.Entry<MetricGroup, Map<String, Metric>> group : metrics.entrySet()) {
          MetricGroup front = front(group.getKey());
          group
              .getValue()
              .forEach(
                  (name, metric) -> {
                    if (!isOfEndedSplit(metric)) {
                      reporter.notifyOfAddedMetric(metric, name, front);
                    }
                  });
        }
        String text =
            HttpClient.newHttpClient()
                .send(
                    HttpRequest.newBuilder(
                            URI.create("http://localhost:" + port.getPort() + "/metrics"))
                        .build(),
                    HttpResponse.BodyHandlers.ofString())
                .body();
        Matcher samples = Pattern.compile("(?m)^(flink_\\w+)(\\{[^}]*\\})? ").matcher(text);
        while (samples.find()) {
          Set<String> operators = shown.computeIfAbsent(samples.group(1), name -> new TreeSet<>());
          Matcher operator = OPERATOR.matcher(samples.group(2) == null ? "" : samples.group(2));
          if (operator.find()) {
            operators.add(operator.group(2));
          }
        }
      } finally {
        reporter.close();
      }
    } finally {
      port.close();
    }
    return shown;
  }

  /** In Flink 2.3, gauges of the watermark of an ended split throw. */
  private static boolean isOfEndedSplit(Metric metric) {
    try {
      return metric instanceof Gauge<?> gauge && gauge.getValue() == null;
    } catch (NullPointerException e) {
      return true;
    }
  }

  private static MetricGroup front(MetricGroup group) {
    return new FrontMetricGroup<>(
        new ReporterScopedSettings<>(0, '.', ReporterFilter.getNoOpFilter(), Set.of(), Map.of()),
        (AbstractMetricGroup<?>) group);
  }

  /** The metrics of a job that has ended. When its cluster closes, the reporter forgets them. */
  private Map<MetricGroup, Map<String, Metric>> runJob() throws Exception {
    InMemoryReporter reporter = InMemoryReporter.createWithRetainedMetrics();
    Configuration settings = new Configuration();
    settings.set(SecurityOptions.DELEGATION_TOKENS_ENABLED, false);
    reporter.addToConfiguration(settings);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(2, settings);
    env.enableCheckpointing(60_000);
    Path input =
        Files.write(
            directory.resolve("in"), IntStream.range(0, 50).mapToObj(i -> "key-" + i).toList());
    PipelineJob.build(
        env,
        EventFiles.source(
            input, FileFormat.LINES, new EventParser(Duration.ZERO, Clock.systemUTC())),
        OutcomeFiles.sinks(
            FileFormat.LINES,
            directory.resolve("out"),
            Optional.empty(),
            Optional.empty(),
            Optional.empty()),
        new SnapshotFiles(directory.resolve("snapshots")),
        JobOptions.parse("--state-backend=rocksdb", "--window=1d", "--set=" + SET));
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumSlotsPerTaskManager(2)
                .withRandomPorts()
                .build());
    try {
      cluster.start();
      cluster.executeJobBlocking(env.getStreamGraph().getJobGraph());
      return reporter.getMetricsByGroup();
    } finally {
      cluster.close();
    }
  }
}
