package io.firstseen.cli.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Progress;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.fixtures.SnapshotWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** {@code snapshot info}, {@code pull} and {@code follow} on a real broker. */
class SnapshotTopicVerbsTest {
  private static final EmbeddedBroker.Settings SETTINGS = EmbeddedBroker.Settings.tuned();

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  private final String topic = SharedBroker.unused("firstseen.snapshots");

  @TempDir private Path directory;

  private Path output() {
    return directory.resolve("pulled");
  }

  private Invocation pull(String servers, String... more) {
    return Invocation.of(
        words(
            List.of(
                "snapshot",
                "pull",
                "--bootstrap-servers=" + servers,
                "--topic=" + topic,
                "--set=" + SnapshotWriter.SET,
                "--output=" + output()),
            more));
  }

  private static final String WHEN_THE_FIRST_IS_EXPECTED =
      "; the first one is expected at most --window plus --idle-timeout plus --checkpoint-interval"
          + " of the jobs after the first event, by default 1h1m10s";

  private static String[] words(List<String> first, String... more) {
    return Stream.concat(first.stream(), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void pullsWhatIsNewAndSaysSoIfNothingIs() throws Exception {
    String servers = KAFKA.servers();
    assertThat(pull(servers))
        .isEqualTo(
            new Invocation(
                ExitCode.NEGATIVE,
                List.of("there is no topic '" + topic + "' yet" + WHEN_THE_FIRST_IS_EXPECTED),
                List.of()));
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    assertThat(pull(servers, "--json").out())
        .containsExactly(
            "{\"pulled\":false,\"reason\":\"topic '"
                + topic
                + "' holds no snapshot of set"
                + " 'spam' yet"
                + WHEN_THE_FIRST_IS_EXPECTED
                + "\"}");
    assertThat(output()).doesNotExist();
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publish(1, "a", "b");
      Invocation first = pull(servers);
      assertThat(first.status()).isZero();
      assertThat(first.out())
          .singleElement()
          .asString()
          .matches("sequence 1 of set 'spam': 2 keys, fetched \\d+ bytes in 2 blobs, took \\d+ ms");
      assertThat(query("a", "c")).containsExactly("a\tpresent", "c\tabsent");
      assertThat(pull(servers).out())
          .containsExactly(
              "nothing to do: " + output() + " holds sequence 1 of set 'spam' already");
      writer.publish(5, "c");
      JsonNode second = read(pull(servers, "--json").out().get(0));
      assertThat(second.get("pulled").asBoolean()).isTrue();
      assertThat(second.get("sequence").asLong()).isEqualTo(5);
      assertThat(second.get("keys").asLong()).isEqualTo(1);
      assertThat(query("a", "c")).containsExactly("a\tabsent", "c\tpresent");
    }
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
      admin.deleteTopics(List.of(topic)).all().get();
    }
    try (SnapshotWriter writer = openTopic(KAFKA.broker())) {
      writer.publish(2, "d");
    }
    assertThat(pull(servers))
        .isEqualTo(
            new Invocation(
                ExitCode.USAGE,
                List.of(),
                List.of(
                    "firstseen snapshot pull: set 'spam' went back to sequence 2; "
                        + output()
                        + " holds sequence 5 and stays as it is")));
    assertThat(query("c")).containsExactly("c\tpresent");
  }

  @Test
  void pullPutsNoSetIntoTheDirectoryOfAnother() throws Exception {
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001);
    new SetPublisher("other", parameters).publish(1, 0, 1).write(new SnapshotDirectory(output()));
    try (SnapshotWriter writer = openTopic(KAFKA.broker())) {
      writer.publish(5, "a");
      pull(KAFKA.servers())
          .assertRefused(
              output() + " holds set 'other', so set 'spam' must go into another directory");
    }
    assertThat(new SnapshotDirectory(output()).sequences()).containsExactly(1L);
  }

  @Test
  void pullTakesNothingThatIsNotTheNewestOfTheSet() throws Exception {
    String servers = KAFKA.servers();
    try (SnapshotWriter writer = openTopic(KAFKA.broker())) {
      writer.publish(5, "a");
      assertThat(pull(servers).status()).isZero();
    }
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publish(5, "b");
      pull(servers)
          .assertRefused(
              "sequence 5 of set 'spam' has different content from the manifest in " + output());
      writer.publishAsManifest(new byte[] {'?'});
      pull(servers).assertRefused("manifest");
      SetParameters parameters =
          SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001);
      writer.publishAsManifest(
          new SetPublisher("other", parameters).publish(6, 0, 1).manifest().toBytes());
      pull(servers).assertRefused("it belongs to set 'other'");
      assertThat(query("a", "b")).containsExactly("a\tpresent", "b\tabsent");
      writer.publish(6, "b");
      assertThat(pull(servers).status()).isZero();
      assertThat(query("a", "b")).containsExactly("a\tabsent", "b\tpresent");
    }
  }

  @Test
  void pullSaysInOneLineWhyBlobsThatAreElsewhereCannotBeRead() throws Exception {
    String servers = KAFKA.servers();
    try (SnapshotWriter writer = openTopic(KAFKA.broker())) {
      writer.publish(1, "a");
    }
    for (String[] place :
        new String[][] {
          {"/data/blobs", "blobs must be the URI of a directory, such as s3://bucket/path"},
          {"s3://bucket/", "is of a kind that this client cannot read"},
          {"http://127.0.0.1:9/", "cannot be reached"}
        }) {
      Invocation refused = pull(servers, "--blobs=" + place[0]);
      assertThat(refused.status()).as(place[0]).isEqualTo(ExitCode.USAGE);
      assertThat(refused.err())
          .singleElement()
          .asString()
          .startsWith("firstseen snapshot pull: ")
          .contains(place[1])
          .doesNotContain("unexpected");
    }
  }

  @Test
  void pullWarnsOfAManifestThatHasExpired() throws Exception {
    try (SnapshotWriter writer = openTopic(KAFKA.broker())) {
      SetParameters parameters =
          SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001);
      writer.publishAsManifest(
          new SetPublisher("spam", parameters)
              .publish(6, 0, 1)
              .manifest()
              .withTimes(1_000_000, 2_000_000L)
              .toBytes());
    }
    Invocation pulled = pull(KAFKA.servers(), "--json");
    assertThat(pulled.status()).isZero();
    assertThat(pulled.err())
        .containsExactly(
            "warning: sequence 6 of set 'spam' expired at 1970-01-01T00:33:20Z; its publisher may"
                + " have stopped");
    JsonNode line = read(pulled.out().get(0));
    assertThat(line.get("publishedMillis").asLong()).isEqualTo(1_000_000);
    assertThat(line.get("expiresMillis").asLong()).isEqualTo(2_000_000);
  }

  @Test
  void pullMendsADamagedBlob() throws Exception {
    try (SnapshotWriter writer = openTopic(KAFKA.broker())) {
      writer.publish(1, "a");
    }
    pull(KAFKA.servers());
    try (var blobs = Files.list(output().resolve("blobs"))) {
      Files.writeString(blobs.findFirst().orElseThrow(), "damaged");
    }
    assertThat(pull(KAFKA.servers()).out().get(0)).contains("in 1 blobs");
    assertThat(query("a")).containsExactly("a\tpresent");
  }

  @Test
  void pullGivesUpInTime() throws Exception {
    String servers = "localhost:" + SharedBroker.freePort();
    assertThat(pull(servers, "--timeout=1s"))
        .isEqualTo(
            new Invocation(
                ExitCode.USAGE,
                List.of(),
                List.of(
                    "firstseen snapshot pull: topic '"
                        + topic
                        + "' of "
                        + servers
                        + " could not be read within 1 s")));
  }

  private Invocation info(String servers, String... more) {
    return Invocation.of(
        words(
            List.of("snapshot", "info", "--bootstrap-servers=" + servers, "--topic=" + topic),
            more));
  }

  @Test
  void infoSaysOfATopicWhatItSaysOfADirectory() throws Exception {
    String servers = KAFKA.servers();
    assertThat(Invocation.of("snapshot", "info", "--bootstrap-servers=" + servers, "--topic=none"))
        .isEqualTo(
            new Invocation(
                ExitCode.NEGATIVE,
                List.of("there is no topic 'none' yet" + WHEN_THE_FIRST_IS_EXPECTED),
                List.of()));
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    assertThat(info(servers, "--json"))
        .isEqualTo(
            new Invocation(
                ExitCode.NEGATIVE,
                List.of(
                    "{\"published\":false,\"reason\":\"topic '"
                        + topic
                        + "' holds no"
                        + " snapshot of set 'firstseen' yet"
                        + WHEN_THE_FIRST_IS_EXPECTED
                        + "\"}"),
                List.of()));
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publish(1, "a", "b");
      writer.publish(4, "a", "b", "c");
    }
    assertThat(info(servers).out())
        .containsExactly(
            "topic '"
                + topic
                + "' holds no snapshot of set 'firstseen' yet, but snapshots of spam");
    pull(servers);
    for (String form : List.of("--set=spam", "--set=spam --json")) {
      Invocation ofTopic = info(servers, form.split(" "));
      assertThat(ofTopic.status()).isZero();
      assertThat(ofTopic.err()).isEmpty();
      List<String> ofDirectory = List.of("snapshot", "info", output().toString());
      assertThat(ofTopic.out())
          .isEqualTo(
              Invocation.of(words(ofDirectory, form.endsWith("json") ? "--json" : "--sequence=4"))
                  .out());
      assertThat(ofTopic.out().toString()).contains("keys").contains("4");
    }
  }

  @Test
  void infoSaysInOneLineWhyThereIsNothingToSay() throws Exception {
    String nobody = "localhost:" + SharedBroker.freePort();
    assertThat(info(nobody, "--timeout=1s"))
        .isEqualTo(
            new Invocation(
                ExitCode.USAGE,
                List.of(),
                List.of(
                    "firstseen snapshot info: topic '"
                        + topic
                        + "' of "
                        + nobody
                        + " could not be read within 1 s")));
    infoRefuses(
        "cannot read topic 'firstseen.snapshots' of nowhere.invalid:9092: No resolvable bootstrap"
            + " urls given in bootstrap.servers",
        "--bootstrap-servers=nowhere.invalid:9092");
    infoRefuses("Missing required argument (specify one of these): (F | --bootstrap-servers=");
    infoRefuses(
        "F, --bootstrap-servers=HOST:PORT,... are mutually exclusive",
        "F",
        "--bootstrap-servers=x");
    infoRefuses("of a topic only the newest is read", "--bootstrap-servers=x", "--sequence=1");
    infoRefuses("--set goes with --bootstrap-servers", "F", "--set=spam");
  }

  private static void infoRefuses(String why, String... words) {
    Invocation.of(words(List.of("snapshot", "info"), words)).assertRefused(why);
  }

  private List<String> query(String... keys) {
    return Invocation.of(words(List.of("snapshot", "query", output().toString()), keys)).out();
  }

  @Tag("slow")
  @Test
  void followTellsOfSnapshotsAndOfABrokerThatGoesAndComes() throws Exception {
    int port = SharedBroker.freePort();
    Path data = directory.resolve("broker");
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    FutureTask<Integer> follow =
        new FutureTask<>(
            () ->
                Invocation.run(
                    out,
                    err,
                    "snapshot",
                    "follow",
                    "--bootstrap-servers=localhost:" + port,
                    "--topic=" + topic,
                    "--set=" + SnapshotWriter.SET,
                    "--cache-dir=" + directory.resolve("cache"),
                    "--json",
                    "--count=2"));
    try (EmbeddedBroker first = EmbeddedBroker.start(data, SETTINGS.port(port));
        SnapshotWriter writer = openTopic(first)) {
      writer.publish(1, "a");
      new Thread(follow).start();
      awaitEvent(out, "snapshot");
    }
    awaitEvent(out, "unreachable");
    try (EmbeddedBroker second = EmbeddedBroker.start(data, SETTINGS.port(port));
        SnapshotWriter writer = new SnapshotWriter(second, topic)) {
      awaitEvent(out, "reachable");
      writer.publish(2, "a", "b");
      assertThat(follow.get(1, TimeUnit.MINUTES)).isZero();
    }
    assertThat(err.toString()).isEmpty();
    List<JsonNode> events = out.toString().lines().map(line -> read(line)).toList();
    assertThat(events.stream().map(event -> event.get("event").asText()))
        .containsExactly("snapshot", "unreachable", "reachable", "snapshot");
    JsonNode last = events.get(events.size() - 1);
    assertThat(last.get("sequence").asLong()).isEqualTo(2);
    assertThat(last.get("keys").asLong()).isEqualTo(2);
    assertThat(last.get("fetchedBytes").asLong()).isPositive();
    assertThat(last.get("windowEndMillis").asLong()).isEqualTo(3);
    assertThat(directory.resolve("cache/spam.snapshots/current")).exists();
  }

  @Tag("slow")
  @Test
  void followShowsHowALongFetchGoesOn() throws Exception {
    String[] keys = IntStream.range(0, 500_000).mapToObj(i -> "key-" + i).toArray(String[]::new);
    System.setProperty(Progress.TERMINAL_PROPERTY, "true");
    // A broker of its own, since it is throttled: its quota is measured over two seconds.
    EmbeddedBroker.Settings settings =
        SETTINGS.with("quota.window.num", "2").with("quota.window.size.seconds", "1");
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory.resolve("broker"), settings);
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        SnapshotWriter writer = openTopic(broker)) {
      writer.publish(1, keys);
      // Two million bytes in three chunks, each smaller than the quota, otherwise the client may
      // wait indefinitely.
      ClientQuotaEntity everyone =
          new ClientQuotaEntity(Collections.singletonMap(ClientQuotaEntity.CLIENT_ID, null));
      ClientQuotaAlteration.Op slow =
          new ClientQuotaAlteration.Op("consumer_byte_rate", 1_100_000.0);
      admin
          .alterClientQuotas(List.of(new ClientQuotaAlteration(everyone, List.of(slow))))
          .all()
          .get();
      Invocation follow =
          Invocation.of(
              "snapshot",
              "follow",
              "--bootstrap-servers=" + broker.bootstrapServers(),
              "--topic=" + topic,
              "--set=" + SnapshotWriter.SET,
              "--kafka-property=max.partition.fetch.bytes=500000",
              "--count=1");
      assertThat(follow.status()).isZero();
      assertThat(follow.out())
          .singleElement()
          .asString()
          .matches(
              "\\S+Z sequence 1, window 1970-01-01T00:00:00.001Z to 1970-01-01T00:00:00.002Z,"
                  + " 500,000 keys, by bases of [0-9,]+ bytes, took [0-9,]+ ms");
      assertThat(String.join("\n", follow.err()))
          .containsPattern("reading: [0-9,]{7,9} bytes, [1-9] records left")
          .endsWith("\u001b[K");
    } finally {
      System.clearProperty(Progress.TERMINAL_PROPERTY);
    }
  }

  private static void awaitEvent(StringWriter out, String event) throws Exception {
    await(event + " is told")
        .atMost(Duration.ofMinutes(1))
        .until(() -> out.toString().contains("\"event\":\"" + event + "\""));
  }

  @Tag("slow")
  @Test
  @DisabledOnOs(OS.WINDOWS)
  void followEndsQuietlyWhenInterrupted() throws Exception {
    try (SnapshotWriter writer = openTopic(KAFKA.broker())) {
      writer.publish(1, "a");
      Path work = Files.createDirectory(directory.resolve("follow"));
      try (CommandProcess follow =
          CommandProcess.start(
              work,
              "snapshot",
              "follow",
              "--bootstrap-servers=" + KAFKA.servers(),
              "--topic=" + topic,
              "--set=" + SnapshotWriter.SET)) {
        await("the first snapshot is told")
            .atMost(Duration.ofMinutes(1))
            .until(() -> Files.readString(work.resolve("out")).contains("sequence 1, "));
        follow.interrupt();
        Invocation ended = follow.end();
        assertThat(ended.status()).isEqualTo(130);
        assertThat(ended.err()).isEmpty();
        assertThat(ended.out())
            .singleElement()
            .asString()
            .matches(
                "\\S+Z sequence 1, window 1970-01-01T00:00:00.001Z to 1970-01-01T00:00:00.002Z,"
                    + " 1 keys, by bases of \\d+ bytes, took \\d+ ms");
      }
    }
  }

  private SnapshotWriter openTopic(EmbeddedBroker broker) {
    SnapshotWriter.createTopic(broker, topic);
    return new SnapshotWriter(broker, topic);
  }

  private static JsonNode read(String line) {
    try {
      return new ObjectMapper().readTree(line);
    } catch (JsonProcessingException e) {
      throw new AssertionError(line, e);
    }
  }
}
