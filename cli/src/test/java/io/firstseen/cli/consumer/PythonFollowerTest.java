package io.firstseen.cli.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.CommandProcess;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.fixtures.SnapshotWriter;
import io.firstseen.server.ServerOptions;
import io.firstseen.server.ServiceLog;
import io.firstseen.server.SetSource;
import io.firstseen.server.SnapshotServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The package in Python follows the service and a topic of a real broker. */
// A read from a process is not interrupted.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@DisabledOnOs(OS.WINDOWS)
class PythonFollowerTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  @TempDir private Path directory;

  private static String python(String module, String least) throws InterruptedException {
    String sentence =
        "this test of clients/python needs Python 3.9 or later with the module %s of version %s or later"
            .formatted(module, least);
    return PythonFollower.python(module, least).orElseGet(() -> Assumptions.abort(sentence));
  }

  private static long[] hashes(int from, int to) {
    return SnapshotWriter.hashes(
        IntStream.range(from, to).mapToObj(i -> "key " + i).toArray(String[]::new));
  }

  @Tag("slow")
  @Test
  void followsTheServiceByPacksAndOutlivesIt() throws Exception {
    String python = python("sys", "3.9");
    SnapshotDirectory snapshots = new SnapshotDirectory(directory.resolve("set"));
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(4), 0.0001);
    SetPublisher publisher = new SetPublisher("spam", parameters);
    publisher.publish(1, 1_000, 2_000, hashes(0, 5_000)).write(snapshots);
    Path cache = directory.resolve("cache");
    Path work = Files.createDirectory(directory.resolve("work"));
    String url;
    try (CommandProcess serve =
        CommandProcess.start(
            work, "serve", "--directory=" + snapshots.path(), "--port=0", "--json")) {
      url = urlOf(work);
      try (PythonFollower follower = new PythonFollower(python, "http", url, cache)) {
        JsonNode first = follower.ask(1, "key 0", "key 4999", "key 5000");
        assertThat(first.path("present").toString()).isEqualTo("[true,true,false]");
        assertThat(first.path("keys").asInt()).isEqualTo(5_000);
        publisher.publish(2, 2_000, 3_000, hashes(3, 5_001)).write(snapshots);
        JsonNode second = follower.ask(2, "key 0", "key 4999", "key 5000");
        assertThat(second.path("sequence").asInt()).isEqualTo(2);
        assertThat(second.path("present").toString()).isEqualTo("[false,true,true]");
        assertThat(second.path("byPacks").toString()).isEqualTo("[false,true]");
        assertThat(second.path("bytes").get(1).asInt())
            .isPositive()
            .isLessThan(second.path("bytes").get(0).asInt() / 10);
        assertThat(second.path("trouble").isNull()).as("%s", second).isTrue();
        serve.terminate();
        serve.end();
        JsonNode alone = follower.ask(2, "key 4999");
        assertThat(alone.path("present").toString()).isEqualTo("[true]");
      }
    }
    // The last good set answers at the next start, without the service.
    try (PythonFollower again = new PythonFollower(python, "http", url, cache)) {
      JsonNode kept = again.ask(2, "key 0", "key 4999", "key 5000");
      assertThat(kept.path("present").toString()).isEqualTo("[false,true,true]");
    }
  }

  /** The service does not have blobs of a topic, so it builds bases. */
  @Tag("slow")
  @Test
  void followsTheServiceOfATopic() throws Exception {
    String python = python("sys", "3.9");
    String topic = SharedBroker.unused("firstseen.snapshots");
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    SetSource source =
        SetSource.topic(
            SnapshotClientOptions.builder(KAFKA.servers(), SnapshotWriter.SET).topic(topic));
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic);
        SnapshotServer server =
            SnapshotServer.start(
                ServerOptions.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                List.of(source),
                new ServiceLog() {});
        PythonFollower follower =
            new PythonFollower(
                python,
                "http",
                "http://127.0.0.1:" + server.address().getPort() + "/",
                directory.resolve("cache"))) {
      writer.publish(1, "a", "b");
      assertThat(follower.ask(1, "a", "c").path("present").toString()).isEqualTo("[true,false]");
      writer.publish(2, "b", "c");
      JsonNode second = follower.ask(2, "a", "b", "c");
      assertThat(second.path("present").toString()).isEqualTo("[false,true,true]");
      assertThat(second.path("byPacks").toString()).isEqualTo("[false,false]");
    }
  }

  @ParameterizedTest
  @CsvSource({"confluent,confluent_kafka,1.7", "kafka-python,kafka,2.1"})
  void followsATopic(String kind, String module, String least) throws Exception {
    String python = python(module, least);
    String topic = SharedBroker.unused("firstseen.snapshots");
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    String place = KAFKA.broker().bootstrapServers() + " " + topic;
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publish(1, "a", "b");
      try (PythonFollower follower =
          new PythonFollower(python, kind, place, directory.resolve("cache"))) {
        assertThat(follower.ask(1, "a", "c").path("present").toString()).isEqualTo("[true,false]");
        writer.publish(2, "b", "c");
        assertThat(follower.ask(2, "a", "b").path("present").toString()).isEqualTo("[false,true]");
        // Uncommitted records are ignored.
        writer.begin(3, SnapshotWriter.hashes("d"));
        assertThat(follower.ask(2, "d").path("sequence").asInt()).isEqualTo(2);
        writer.commit();
        JsonNode third = follower.ask(3, "d", "b");
        assertThat(third.path("present").toString()).isEqualTo("[true,false]");
        assertThat(third.path("troubles")).as("%s", third).isEmpty();
      }
    }
  }

  private static String urlOf(Path work) throws Exception {
    String[] url = new String[1];
    await("it says where it serves")
        .atMost(LONG)
        .until(
            () -> {
              for (String line : Files.readAllLines(work.resolve("out"))) {
                JsonNode event = JSON.readTree(line);
                if (event.path("event").asText().equals("serving")) {
                  url[0] = event.path("url").asText();
                }
              }
              return url[0] != null;
            });
    return url[0];
  }
}
