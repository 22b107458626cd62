package io.firstseen.cli.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestBlobs;
import io.firstseen.fixtures.SnapshotWriter;
import io.firstseen.server.ServerOptions;
import io.firstseen.server.ServiceLog;
import io.firstseen.server.SetSource;
import io.firstseen.server.SnapshotServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The service on a topic of a real broker. */
class ServeTopicTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final EmbeddedBroker.Settings SETTINGS = EmbeddedBroker.Settings.tuned();

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  private final String topic = SharedBroker.unused("firstseen.snapshots");
  private final HttpClient http = HttpClient.newHttpClient();
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
  private SnapshotServer server;

  private <T> HttpResponse<T> get(String target, HttpResponse.BodyHandler<T> handler)
      throws Exception {
    return get(
        URI.create("http://127.0.0.1:" + server.address().getPort()).resolve(target), handler);
  }

  private <T> HttpResponse<T> get(URI url, HttpResponse.BodyHandler<T> handler) throws Exception {
    return http.send(HttpRequest.newBuilder(url).build(), handler);
  }

  private JsonNode json(String target) throws Exception {
    return JSON.readTree(get(target, HttpResponse.BodyHandlers.ofString()).body());
  }

  private JsonNode json(URI url) throws Exception {
    return JSON.readTree(get(url, HttpResponse.BodyHandlers.ofString()).body());
  }

  private byte[] bytes(String target) throws Exception {
    return get(target, HttpResponse.BodyHandlers.ofByteArray()).body();
  }

  private ByteBuffer blob(BlobReference blob) throws IOException {
    try {
      return ByteBuffer.wrap(bytes("/v1/blobs/" + blob.digest()));
    } catch (Exception e) {
      throw new IOException(e);
    }
  }

  private String nextEvent() throws InterruptedException {
    return events.poll(1, TimeUnit.MINUTES);
  }

  private void start(String bootstrapServers, String... setNames) throws Exception {
    ServiceLog log =
        new ServiceLog() {
          @Override
          public void onSnapshot(String set, Manifest manifest) {
            events.add("snapshot " + manifest.sequence());
          }

          @Override
          public void onTrouble(String set, String reason) {
            events.add("trouble");
          }

          @Override
          public void onReachable(String set) {
            events.add("reachable");
          }
        };
    server =
        SnapshotServer.start(
            ServerOptions.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            Arrays.stream(setNames)
                .map(
                    set ->
                        SnapshotClientOptions.builder(bootstrapServers, set)
                            .topic(topic)
                            .chunkWait(Duration.ofMillis(100)))
                .map(SetSource::topic)
                .toList(),
            log);
  }

  @Tag("slow")
  @Test
  void followsATopicAndOutlivesItsBroker(@TempDir Path directory) throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory, SETTINGS)) {
      SnapshotWriter.createTopic(broker, topic);
      start(broker.bootstrapServers(), SnapshotWriter.SET);
      assertThat(get("/readyz", HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(503);
      assertThat(json("/v1/contains?key=a").path("error").asText())
          .isEqualTo(
              "set 'spam' has no snapshot yet: the first one is expected at most --window plus"
                  + " --idle-timeout plus --checkpoint-interval of the jobs after the first event, by"
                  + " default 1h1m10s");
      assertThat(json("/v1/status").at("/sets/0/firstSnapshot").asText())
          .startsWith("the first one is expected at most ");
      try (SnapshotWriter writer = new SnapshotWriter(broker, topic)) {
        writer.publish(1, "a");
        assertThat(nextEvent()).isEqualTo("snapshot 1");
        assertThat(get("/readyz", HttpResponse.BodyHandlers.ofString()).statusCode())
            .isEqualTo(200);
        assertThat(json("/v1/contains?key=a").path("present").asBoolean()).isTrue();
        assertThat(json("/v1/status").at("/sets/0").has("firstSnapshot")).isFalse();
        writer.publish(2, "b");
        assertThat(nextEvent()).isEqualTo("snapshot 2");
      }
      JsonNode answer = json("/v1/contains?key=a");
      assertThat(answer.path("present").asBoolean()).isFalse();
      assertThat(answer.path("sequence").asInt()).isEqualTo(2);
      Manifest manifest = Manifest.read(bytes("/v1/manifest"));
      assertThat(manifest.sequence()).isEqualTo(2);
      Manifest bases = Manifest.read(bytes("/v1/manifest?bases=true"));
      assertThat(bases.root()).isEqualTo(manifest.root());
      ManifestBlobs.verify(bases, this::blob);
    }
    assertThat(nextEvent()).isEqualTo("trouble");
    try (SnapshotServer served = server) {
      assertThat(served.address().getAddress().isLoopbackAddress()).isTrue();
      assertThat(json("/v1/contains?key=b").path("present").asBoolean()).isTrue();
      JsonNode set = json("/v1/status").path("sets").get(0);
      assertThat(set.path("state").asText()).isEqualTo("READY");
      assertThat(set.path("trouble").asText()).contains("no answer about topic");
      assertThat(set.path("published").size()).isEqualTo(2);
      assertThat(get("/metrics", HttpResponse.BodyHandlers.ofString()).body())
          .contains("firstseen_source_reachable{set=\"spam\"} 0.0")
          .contains("firstseen_snapshot_sequence{set=\"spam\"} 2.0");
    }
  }

  @Test
  void readsTheTopicOnceForAllItsSets() throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publishAs("spam", 1, "key-of-spam");
      writer.publishAs("ham", 1, "key-of-ham");
      start(KAFKA.servers(), "spam", "ham");
      try (SnapshotServer served = server) {
        assertThat(nextEvent()).isEqualTo("snapshot 1");
        assertThat(nextEvent()).isEqualTo("snapshot 1");
        assertThat(served.address().getPort()).isPositive();
        assertThat(json("/v1/contains?set=ham&key=key-of-ham").path("present").asBoolean())
            .isTrue();
        assertThat(json("/v1/contains?set=spam&key=key-of-ham").path("present").asBoolean())
            .isFalse();
        assertThat(
                Thread.getAllStackTraces().keySet().stream()
                    .map(Thread::getName)
                    .filter(name -> name.startsWith("firstseen-follower")))
            .containsExactly("firstseen-follower-2-sets");
      }
    }
  }

  @Test
  void endsWhenTheFirstManifestShowsAnotherHashKey(@TempDir Path directory) throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic);
        CommandProcess serve =
            CommandProcess.startWithHashKey(
                "000102030405060708090a0b0c0d0e0f",
                directory,
                "serve",
                "--bootstrap-servers=" + KAFKA.servers(),
                "--topic=" + topic,
                "--set=spam",
                "--port=0")) {
      await("it serves").atMost(Duration.ofMinutes(1)).until(() -> !lines(directory).isEmpty());
      writer.publish(1, "a");
      Invocation end = serve.end();
      assertThat(end.status()).isEqualTo(ExitCode.USAGE);
      assertThat(end.err())
          .last()
          .asString()
          .startsWith("firstseen serve: sequence 1 of set 'spam' cannot be used: the set is hashed")
          .endsWith("configure the hash key that the publisher uses");
    }
  }

  @Tag("slow")
  @Test
  void anAllowSetIsOneMoreSetOfTheTopic(@TempDir Path directory) throws Exception {
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic);
        CommandProcess serve =
            CommandProcess.start(
                directory,
                "serve",
                "--bootstrap-servers=" + KAFKA.servers(),
                "--topic=" + topic,
                "--set=phishing",
                "--allow=ours",
                "--port=0")) {
      writer.publishList("phishing", 1, "example.org/");
      writer.publishList("ours", 1, "ok.example.org/");
      await("it serves two snapshots")
          .atMost(Duration.ofMinutes(1))
          .until(() -> lines(directory).size() == 3);
      String serving =
          lines(directory).stream().filter(line -> line.startsWith("serving")).findFirst().get();
      assertThat(serving).startsWith("serving sets phishing, ours (allow) on http://");
      String match = serving.replaceFirst(".* on (http\\S+) from .*", "$1v1/match?url=");
      assertThat(json(URI.create(match + "https://www.example.org/a")).path("present").asBoolean())
          .isTrue();
      JsonNode allowed = json(URI.create(match + "https://ok.example.org/a"));
      assertThat(allowed.path("present").asBoolean()).isFalse();
      assertThat(allowed.at("/allowedBy/0/entry").asText()).isEqualTo("ok.example.org/");
      serve.terminate();
      assertThat(serve.end().err()).isEmpty();
    }
  }

  private static List<String> lines(Path directory) throws IOException {
    return Files.readAllLines(directory.resolve("out"));
  }
}
