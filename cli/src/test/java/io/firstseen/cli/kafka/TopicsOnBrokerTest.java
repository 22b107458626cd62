package io.firstseen.cli.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.jobs.kafka.Topics;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.testing.EmbeddedBroker;
import java.nio.file.Path;
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
    broker.createTopics(
        List.of(
            new NewTopic(topic, partitions, (short) 1)
                .configs(Map.of("cleanup.policy", cleanupPolicy))));
  }

  private static String describe(String topic) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      int partitions =
          admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size();
      String policy =
          admin
              .describeConfigs(List.of(resource))
              .all()
              .get()
              .get(resource)
              .get("cleanup.policy")
              .value();
      return partitions + " " + policy;
    }
  }

  @Test
  void whatIsMissingIsMadeWithTheRightSettingsAndIsAcceptedThen() throws Exception {
    create("a.events", 2, "delete");
    KafkaOptions options = options("a");
    Topics.preparePipeline(options);
    assertThat(describe("a.accepted")).isEqualTo("2 compact");
    assertThat(describe("a.duplicates")).isEqualTo("2 delete");
    assertThat(describe("a.dead-letters")).isEqualTo("2 delete");
    assertThat(describe("a.snapshots")).isEqualTo("2 compact");
    Topics.prepareSnapshots(options("h"));
    assertThat(describe("h.accepted")).isEqualTo("3 compact");
    assertThatCode(() -> Topics.preparePipeline(options)).doesNotThrowAnyException();
    assertThatCode(() -> Topics.prepareSnapshots(options)).doesNotThrowAnyException();
  }

  @Test
  void aTopicThatNothingIsWrittenToIsNeitherMadeNorChecked() throws Exception {
    create("n.events", 1, "delete");
    create("m.events", 1, "delete");
    create("m.duplicates", 1, "compact");
    Topics.prepareDedup(options("n", "--duplicates=none"));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      assertThat(admin.listTopics().names().get())
          .contains("n.accepted", "n.dead-letters")
          .doesNotContain("n.duplicates");
    }
    Topics.preparePipeline(options("m", "--duplicates=none"));
    assertWrongPolicy(
        () -> Topics.preparePipeline(options("m", "--duplicates=sample")),
        "m.duplicates",
        "delete",
        "compact");
  }

  @Test
  void eventsAreNotMadeUp() {
    assertRefused(
        () -> Topics.prepareDedup(options("b")),
        "there is no topic b.events at " + broker.bootstrapServers() + " to read events from");
  }

  @Test
  void aTopicThatWouldLoseRecordsIsRefused() {
    create("c.events", 1, "delete");
    create("c.accepted", 1, "compact,delete");
    assertWrongPolicy(
        () -> Topics.prepareDedup(options("c")), "c.accepted", "compact", "compact,delete");
    assertWrongPolicy(
        () -> Topics.prepareSnapshots(options("c")), "c.accepted", "compact", "compact,delete");
    create("d.events", 1, "delete");
    create("d.dead-letters", 1, "compact");
    assertWrongPolicy(
        () -> Topics.prepareDedup(options("d")), "d.dead-letters", "delete", "compact");
    create("e.snapshots", 1, "delete");
    assertWrongPolicy(
        () -> Topics.prepareSnapshots(options("e")), "e.snapshots", "compact", "delete");
  }

  @Test
  void snapshotsMayHaveAnyNumberOfPartitions() throws Exception {
    create("f.snapshots", 3, "compact");
    Topics.prepareSnapshots(options("f"));
  }

  @Test
  void aTimeoutThatTheBrokerDoesNotAllowIsRefused() {
    create("g.events", 1, "delete");
    assertRefused(
        () -> Topics.prepareDedup(options("g", "--transaction-timeout=16m")),
        "--transaction-timeout must be at most 15m, which is what the brokers at "
            + broker.bootstrapServers()
            + " allow, got 16m");
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
        ("topic %s must have cleanup.policy=%s, it has %s: set it by kafka-configs.sh"
                + " --bootstrap-server %s --alter --entity-type topics --entity-name %s"
                + " --add-config cleanup.policy=%s, or take another topic")
            .formatted(topic, needed, has, broker.bootstrapServers(), topic, needed));
  }

  private static void assertRefused(ThrowingCallable action, String sentence) {
    assertThatThrownBy(action).isInstanceOf(UserErrorException.class).hasMessage(sentence);
  }
}
