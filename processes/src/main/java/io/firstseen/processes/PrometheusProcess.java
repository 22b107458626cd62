package io.firstseen.processes;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Prometheus with the configuration and the alerts of {@code deploy/prometheus}, and the
 * addresses of the local processes.
 */
public final class PrometheusProcess {
  private static final String CONFIGURATION = "prometheus.yml";
  private static final String ALERTS = "alerts.yml";

  private static final int ANSWER_MILLIS = 1_000;

  private static final String OTHERS =
      """

        # Your own programs: files with targets, as for file_sd_configs.
        - job_name: others
          file_sd_configs:
            - files: ["targets/*.yml", "targets/*.json"]
              refresh_interval: 5s
      """;

  private PrometheusProcess() {}

  /**
   * The jobs that Prometheus watches.
   *
   * @param falsePositiveRate the value of {@code --fpr}
   * @param window the length of the windows of the snapshots
   * @param delay from the end of a window to its snapshot
   */
  public record Jobs(double falsePositiveRate, Duration window, Duration delay) {}

  /** The program on the PATH, if present. */
  public static Optional<Path> program() {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator, -1))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, "prometheus"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Starts Prometheus and waits until it is ready.
   *
   * @param directory of its configuration, its data, and of {@code targets/}, in which a user may
   *     put files with further targets
   * @param port of localhost
   * @param flink ports of the metrics of the cluster
   * @param service port of the service
   * @param jobs to which the alerts are fitted
   */
  public static LocalProcess start(
      Path program,
      Path directory,
      int port,
      List<Integer> flink,
      int service,
      Duration scrapeInterval,
      Jobs jobs,
      ProcessLogs logs)
      throws IOException {
    BigDecimal rate = BigDecimal.valueOf(jobs.falsePositiveRate());
    Duration lag = jobs.window().multipliedBy(2).plus(jobs.delay());
    Duration age = lag.plus(jobs.window());
    write(
        directory,
        ALERTS,
        "",
        List.of(
            Map.entry("> 0.001\n", "> %s\n".formatted(rate.stripTrailingZeros().toPlainString())),
            Map.entry("> 7200000\n", "> %d\n".formatted(lag.toMillis())),
            Map.entry("> 10800\n", "> %d\n".formatted(age.toSeconds()))));
    String interval = scrapeInterval.toMillis() + "ms";
    write(
        directory,
        CONFIGURATION,
        OTHERS,
        List.of(
            Map.entry("[\"jobmanager:9249\", \"taskmanager:9249\"]", targets(flink)),
            Map.entry("[\"serve:8080\"]", targets(List.of(service))),
            Map.entry("scrape_interval: 15s", "scrape_interval: " + interval),
            Map.entry("evaluation_interval: 15s", "evaluation_interval: " + interval)));
    List<String> words =
        new ArrayList<>(
            List.of(
                program.toString(),
                "--config.file=" + directory.resolve(CONFIGURATION),
                "--storage.tsdb.path=" + directory.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port));
    if (logs.json()) {
      words.add("--log.format=json");
    }
    URI ready = URI.create("http://127.0.0.1:" + port + "/-/ready");
    return LocalProcess.start(
        "prometheus",
        logs.file("prometheus"),
        start -> new LocalProcess.Command(words, Map.of()),
        start -> answers(ready));
  }

  private static String targets(List<Integer> ports) {
    return ports.stream()
        .map(port -> "\"localhost:" + port + "\"")
        .collect(Collectors.joining(", ", "[", "]"));
  }

  /** Writes a file of {@code deploy/prometheus} with other values, in this order. */
  private static void write(
      Path directory, String name, String more, List<Map.Entry<String, String>> others)
      throws IOException {
    try (InputStream stream =
        PrometheusProcess.class.getResourceAsStream("/deploy/prometheus/" + name)) {
      String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      for (Map.Entry<String, String> other : others) {
        if (!text.contains(other.getKey())) {
          throw new IllegalStateException("no file of deploy/prometheus has " + other.getKey());
        }
        text = text.replace(other.getKey(), other.getValue());
      }
      Files.writeString(directory.resolve(name), text + more);
    }
  }

  /** Whether a GET of the address has the status 200. */
  public static boolean answers(URI address) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) address.toURL().openConnection();
    connection.setConnectTimeout(ANSWER_MILLIS);
    connection.setReadTimeout(ANSWER_MILLIS);
    try {
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } finally {
      connection.disconnect();
    }
  }
}
