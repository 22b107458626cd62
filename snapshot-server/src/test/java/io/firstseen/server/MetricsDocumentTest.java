package io.firstseen.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Metric names are an interface: the page must list exactly the existing ones. */
class MetricsDocumentTest {
  private static final Path PAGE = Path.of("..", "docs", "http-api.md");

  @Test
  void thePageNamesEveryMetricWithItsKindAndLabels(@TempDir Path path) throws Exception {
    DirectoryPublisher.of(path.resolve(DirectoryPublisher.SET)).publish(1, "a");
    new DirectoryPublisher(
            path.resolve("phishing"), "phishing", KeyHash.fixed(), Canonicaliser.URL_EXPRESSION, 2)
        .publish(1, "a.example/");
    try (SnapshotServer server =
        SnapshotServer.start(
            ServerOptions.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            Stream.of(DirectoryPublisher.SET, "phishing")
                .map(
                    set ->
                        DirectoryPublisher.source(
                            path.resolve(set), set, KeyHash.fixed(), Duration.ofMillis(10)))
                .toList(),
            new ServiceLog() {})) {
      await("it is ready")
          .atMost(Duration.ofSeconds(30))
          .until(() -> get(server, "/readyz").statusCode() == 200);
      assertThat(get(server, "/v1/contains?set=spam&key=a").statusCode()).isEqualTo(200);
      assertThat(get(server, "/v1/contains?set=spam&key=").statusCode()).isEqualTo(400);
      assertThat(get(server, "/v1/match?url=http://b.a.example").statusCode()).isEqualTo(200);
      HttpResponse<String> metrics = get(server, "/metrics");
      assertThat(metrics.headers().firstValue("content-type").orElseThrow())
          .startsWith("text/plain; version=0.0.4");
      assertThat(documented()).isEqualTo(exposed(metrics.body()));
      assertThat(metrics.body())
          .contains("firstseen_queries_total{answer=\"present\",set=\"spam\"} 1.0")
          .contains("firstseen_queries_total{answer=\"invalid\",set=\"spam\"} 1.0")
          .contains("firstseen_url_queries_total{answer=\"present\",set=\"phishing\"} 1.0")
          .contains("firstseen_http_requests_total{route=\"contains\",status=\"400\"} 1.0")
          .contains("firstseen_snapshot_keys{set=\"spam\"} 1.0")
          .contains("firstseen_set_ready{set=\"spam\"} 1.0");
      assertThat(
              get(server, "/metrics", "accept", "application/openmetrics-text; version=1.0.0")
                  .body())
          .endsWith("# EOF\n");
    }
  }

  private static HttpResponse<String> get(SnapshotServer server, String target, String... headers)
      throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + server.address().getPort() + target));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Kind and labels of each metric, by its name. */
  private static Map<String, String> exposed(String text) {
    Map<String, String> metrics = new TreeMap<>();
    Matcher types = Pattern.compile("# TYPE (\\S+) (\\S+)").matcher(text);
    while (types.find()) {
      String name = types.group(1);
      Matcher sample =
          Pattern.compile("\n" + name + "(?:_bucket)?(?:\\{([^}]*)\\})? ").matcher("\n" + text);
      String labels = "";
      if (sample.find() && sample.group(1) != null) {
        labels =
            sample.group(1).replaceAll("=\"[^\"]*\"", "").replace(",le", "").replace(",", ", ");
      }
      metrics.put(name, types.group(2) + " of " + labels);
    }
    return metrics;
  }

  private static Map<String, String> documented() throws Exception {
    Map<String, String> metrics = new TreeMap<>();
    Matcher rows =
        Pattern.compile("\\| `(firstseen_\\w+)` \\| (\\w+) \\| ([^|]*?) *\\|")
            .matcher(Files.readString(PAGE));
    while (rows.find()) {
      metrics.put(rows.group(1), rows.group(2) + " of " + rows.group(3).replace("`", ""));
    }
    return metrics;
  }
}
