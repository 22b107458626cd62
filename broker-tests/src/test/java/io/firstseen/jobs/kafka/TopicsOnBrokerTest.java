package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopicsOnBrokerTest {

  @TempDir private static Path directory;
  private static EmbeddedBroker broker;

  @BeforeAll
  static void startBroker() throws Exception {
    broker =
        EmbeddedBroker.start(
            directory.resolve("kafka"),
            EmbeddedBroker.Settings.stock().with("num.partitions", "3"));
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  private static KafkaOptions options(String name, String... more) {
    String[] words =
        List.of(
                "--bootstrap-servers=" + broker.bootstrapServers(),
                "--events-topic=" + name + ".events",
                "--accepted-topic=" + name + ".accepted",
                "--duplicates-topic=" + name + ".duplicates",
                "--dead-letters-topic=" + name + ".dead-letters",
                "--snapshots-topic=" + name + ".snapshots")
            .toArray(new String[6 + more.length]);
    System.arraycopy(more, 0, words, 6, more.length);
    return KafkaOptions.parse(words);
  }

  private static void create(String topic, int partitions, String cleanupPolicy) {
    create(topic, Map.of("cleanup.policy", cleanupPolicy), partitions);
  }

  private static void create(String topic, Map<String, String> settings, int partitions) {
    broker.createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(settings)));
  }

  private static String describe(String topic) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      int partitions =
          admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
      return partitions + " " + setting(topic, "cleanup.policy");
    }
  }

  private static String setting(String topic, String name) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      return admin.describeConfigs(List.of(resource)).all().get().get(resource).get(name).value();
    }
  }

  @Test
  void whatIsMissingIsMadeWithTheRightSettingsAndIsAcceptedThen() throws Exception {
    create("a.events", 2, "delete");
    KafkaOptions options = options("a");
    TestJobs.require(Job.PIPELINE, options);
    assertThat(describe("a.accepted")).isEqualTo("2 compact");
    assertThat(describe("a.duplicates")).isEqualTo("2 delete");
    assertThat(describe("a.dead-letters")).isEqualTo("2 delete");
    assertThat(describe("a.snapshots")).isEqualTo("2 compact");
    assertThat(describe("a.accepted.claims")).isEqualTo("1 compact");
    // A part that is written to is not compacted, and each start of a task reads the topic.
    assertThat(setting("a.accepted.claims", "segment.ms")).isEqualTo("3600000");
    assertThat(setting("a.accepted.claims", "segment.bytes")).isEqualTo("16777216");
    TestJobs.require(Job.SNAPSHOTS, options("h"));
    assertThat(describe("h.accepted")).isEqualTo("3 compact");
    assertThatCode(() -> TestJobs.require(Job.PIPELINE, options)).doesNotThrowAnyException();
    assertThatCode(() -> TestJobs.require(Job.SNAPSHOTS, options)).doesNotThrowAnyException();
  }

  @Test
  void aTopicThatNothingIsWrittenToIsNeitherMadeNorChecked() throws Exception {
    create("n.events", 1, "delete");
    create("m.events", 1, "delete");
    create("m.duplicates", 1, "compact");
    TestJobs.require(Job.DEDUP, options("n", "--duplicates=none"));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      assertThat(admin.listTopics().names().get())
          .contains("n.accepted", "n.dead-letters")
          .doesNotContain("n.duplicates");
    }
    TestJobs.require(Job.PIPELINE, options("m", "--duplicates=none"));
    assertWrongPolicy(
        () -> TestJobs.require(Job.PIPELINE, options("m", "--duplicates=sample")),
        "m.duplicates",
        "delete",
        "compact");
  }

  @Test
  void eventsAreNotMadeUp() {
    assertRefused(
        () -> TestJobs.require(Job.DEDUP, options("b")),
        "topic b.events of events does not exist at %s; kafka-topics.sh --bootstrap-server %1$s --create --topic b.events; --events-topic"
            .formatted(broker.bootstrapServers()));
  }

  @Test
  void aTopicThatWouldLoseRecordsIsRefused() {
    create("c.events", 1, "delete");
    create("c.accepted", 1, "compact,delete");
    assertWrongPolicy(
        () -> TestJobs.require(Job.DEDUP, options("c")), "c.accepted", "compact", "compact,delete");
    assertWrongPolicy(
        () -> TestJobs.require(Job.SNAPSHOTS, options("c")),
        "c.accepted",
        "compact",
        "compact,delete");
    create("d.events", 1, "delete");
    create("d.dead-letters", 1, "compact");
    assertWrongPolicy(
        () -> TestJobs.require(Job.DEDUP, options("d")), "d.dead-letters", "delete", "compact");
    create("e.snapshots", 1, "delete");
    assertWrongPolicy(
        () -> TestJobs.require(Job.SNAPSHOTS, options("e")), "e.snapshots", "compact", "delete");
  }

  @Test
  void aTopicThatTakesOnlySmallRecordsIsRefused() {
    // Nothing is written to this one.
    create("t.events", Map.of("max.message.bytes", "1000"), 1);
    create("t.dead-letters", Map.of("max.message.bytes", "524288"), 1);
    assertRefused(
        () -> TestJobs.require(Job.DEDUP, options("t")),
        "topic t.dead-letters; has 524288; --entity-name t.dead-letters --add-config max.message.bytes=1000000");
    create("u.snapshots", Map.of("cleanup.policy", "compact", "max.message.bytes", "1000000"), 1);
    assertThatCode(() -> TestJobs.require(Job.SNAPSHOTS, options("u"))).doesNotThrowAnyException();
  }

  /** What a ttl has forgotten need not stay in the topic. */
  @Test
  void withTtlTheAcceptedTopicMayDeleteByAge() throws Exception {
    create("p.events", 1, "delete");
    create("p.accepted", Map.of("cleanup.policy", "compact,delete", "retention.ms", "36000000"), 1);
    assertWrongPolicy(
        () -> TestJobs.require(Job.DEDUP, options("p")), "p.accepted", "compact", "compact,delete");
    for (Runnable preparation :
        List.<Runnable>of(
            () -> TestJobs.require(Job.DEDUP, options("p"), "--ttl=8h"),
            () -> TestJobs.require(Job.SNAPSHOTS, options("p"), "--ttl=8h"))) {
      assertRefused(
          preparation::run,
          "topic p.accepted; --add-config retention.ms=118800000; --ttl; --max-downtime; has 36000000");
    }
    String[] shortly = {"--max-downtime=30m"};
    TestJobs.require(Job.DEDUP, options("p", shortly), "--ttl=8h");
    // Not the day for which removals stay: what was written more than ten hours ago may be gone.
    assertThat(TestJobs.require(Job.SNAPSHOTS, options("p", shortly), "--ttl=8h").retention())
        .isEqualTo(Duration.ofHours(10));
    create("q.accepted", 1, "delete");
    assertWrongPolicy(
        () -> TestJobs.require(Job.SNAPSHOTS, options("q"), "--ttl=8h"),
        "q.accepted",
        "compact",
        "delete");
    create(
        "s.accepted",
        Map.of("cleanup.policy", "compact,delete", "retention.ms", "-1", "retention.bytes", "1000"),
        1);
    assertRefused(
        () -> TestJobs.require(Job.SNAPSHOTS, options("s"), "--ttl=8h"),
        "topic s.accepted; has 1000; --entity-name s.accepted --add-config retention.bytes=-1");
    // For ever.
    create("r.accepted", Map.of("cleanup.policy", "compact,delete", "retention.ms", "-1"), 1);
    assertThat(TestJobs.require(Job.SNAPSHOTS, options("r"), "--ttl=8h").retention())
        .isEqualTo(Duration.ofDays(1));
  }

  @Test
  void snapshotsMayHaveAnyNumberOfPartitions() throws Exception {
    create("f.snapshots", 3, "compact");
    TestJobs.require(Job.SNAPSHOTS, options("f"));
  }

  @Test
  void aTimeoutThatTheBrokerDoesNotAllowIsRefused() {
    create("g.events", 1, "delete");
    assertRefused(
        () -> TestJobs.require(Job.DEDUP, options("g", "--transaction-timeout=16m")),
        "--transaction-timeout; at most 15m; " + broker.bootstrapServers() + "; got 16m");
  }

  /** With the settings that our producers have, which are Kafka's. */
  @Test
  void aStockBrokerTakesTheLargestRecordsOfSnapshots() throws Exception {
    create("i.snapshots", 1, "compact");
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      byte[] setName = new byte[100];
      byte[] chunkKey = SnapshotTopicFormat.chunkKey("a".repeat(64), 2_330).getBytes(UTF_8);
      byte[] chunk = new byte[SnapshotTopicFormat.MAX_CHUNK_BYTES];
      producer.send(new ProducerRecord<>("i.snapshots", chunkKey, chunk)).get();
      byte[] tooLarge = new byte[1 << 20];
      assertThatThrownBy(
              () -> producer.send(new ProducerRecord<>("i.snapshots", setName, tooLarge)).get())
          .hasCauseInstanceOf(RecordTooLargeException.class);
    }
  }

  private static void assertWrongPolicy(
      ThrowingCallable action, String topic, String needed, String has) {
    assertRefused(
        action,
        "topic %s; has %s; kafka-configs.sh --bootstrap-server %s --alter --entity-type topics --entity-name %1$s --add-config cleanup.policy=%s"
            .formatted(topic, has, broker.bootstrapServers(), needed));
  }

  private static void assertRefused(ThrowingCallable action, String facts) {
    assertThatThrownBy(action)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(facts.split("; "));
  }
}
