package io.firstseen.sql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.fixtures.SetPublisher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The examples of SQL and SNAPSHOT_CONTAINS, with a real planner and a real broker. */
class KafkaExamplesTest {
  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(4)
              .build());

  private static final String SECRET = "01".repeat(16);

  @TempDir private static Path brokerDirectory;
  private static EmbeddedBroker broker;

  @TempDir private Path directory;
  private StreamTableEnvironment tables;

  @BeforeAll
  static void startBroker() throws Exception {
    broker = EmbeddedBroker.start(brokerDirectory, EmbeddedBroker.Settings.tuned());
    NewTopic snapshots = new NewTopic("firstseen.snapshots", 1, (short) 1);
    broker.createTopics(
        List.of(
            snapshots.configs(Map.of("cleanup.policy", "compact")),
            new NewTopic("visitors", 1, (short) 1)));
    publish("firstseen", KeyHash.fixed(), "https://example.org/b", "Example.ORG");
    publish("secret", KeyHash.parse(SECRET), "a");
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  @BeforeEach
  void makeEnvironment() {
    tables = Sql.tables();
  }

  private static void publish(String set, KeyHash hash, String... keys) throws Exception {
    long[] hashes = new long[keys.length];
    for (int i = 0; i < keys.length; i++) {
      hashes[i] = hash.hash(keys[i].getBytes(UTF_8));
    }
    SetPublisher.Window window =
        new SetPublisher(set, SetParameters.of(hash, Canonicaliser.NONE, new Shards(4), 1e-6))
            .publish(1, 0, 1000, hashes);
    Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrapServers());
    try (KafkaProducer<String, byte[]> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
      for (byte[] blob : window.blobs()) {
        String digest = BlobReference.to(blob).digest();
        for (int i = 0; i < SnapshotTopicFormat.chunkCount(blob.length); i++) {
          send(
              producer,
              SnapshotTopicFormat.chunkKey(digest, i),
              SnapshotTopicFormat.chunk(blob, i));
        }
      }
      send(producer, set, window.manifest().toBytes());
    }
  }

  private static void send(KafkaProducer<String, byte[]> producer, String key, byte[] value)
      throws Exception {
    var unused = producer.send(new ProducerRecord<>("firstseen.snapshots", key, value)).get();
  }

  @Test
  void newUrls() throws Exception {
    Sql.runExample(tables, "new-urls.sql", directory, broker.bootstrapServers());
    assertThat(Sql.lines(directory.resolve("first-visits")))
        .containsExactly(
            "{\"url\":\"https://example.org/a?x=1\",\"visitor\":\"ann\"}",
            "{\"url\":\"https://example.org/b\",\"visitor\":\"bob\"}");
  }

  @Test
  void beforeATopic() throws Exception {
    Sql.runExample(tables, "before-a-topic.sql", directory, broker.bootstrapServers());
    assertThat(broker.readCommitted("visitors"))
        .extracting(ConsumerRecord::value)
        .containsExactlyInAnyOrder(
            "{\"visitor\":\"ANN\"}", "{\"visitor\":\"BOB\"}", "{\"visitor\":\"CAY\"}");
  }

  @Test
  void aTopicIsReadThroughTheDedup() throws Exception {
    tables.executeSql(
        """
        CREATE TABLE versions (k STRING, p INT METADATA FROM 'partition' VIRTUAL) WITH (
          'connector' = 'firstseen', 'key' = 'k',
          'table.connector' = 'kafka', 'table.topic' = 'keys', 'table.format' = 'raw',
          'table.scan.startup.mode' = 'earliest-offset', 'table.scan.bounded.mode' = 'latest-offset',
          'table.properties.bootstrap.servers' = '%s')
        """
            .formatted(broker.bootstrapServers()));
    broker.createTopics(List.of(new NewTopic("keys", 2, (short) 1)));
    Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrapServers());
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      for (String key : List.of("a", "b", "a")) {
        var unused = producer.send(new ProducerRecord<>("keys", 1, null, key)).get();
      }
    }
    assertThat(Sql.rows(tables, "SELECT k, p FROM versions"))
        .containsExactly("+I[a, 1]", "+I[b, 1]");
  }

  @Test
  void snapshotContains() throws Exception {
    Sql.runExample(tables, "snapshot-contains.sql", directory, broker.bootstrapServers());
    assertThat(Sql.lines(directory.resolve("listed")))
        .containsExactly("{\"url\":\"https://example.org/b\",\"visitor\":\"bob\"}");
    assertThat(SnapshotContains.clients()).isZero();
  }

  @Test
  void nullsBytesAndTwoCalls() {
    lookUps(broker.bootstrapServers());
    assertThat(
            Sql.rows(
                tables,
                "SELECT SNAPSHOT_CONTAINS('firstseen', k), SNAPSHOT_CONTAINS('firstseen', CAST(k AS"
                    + " BYTES)) FROM (VALUES ('Example.ORG'), ('x'), (''), (CAST(NULL AS STRING)))"
                    + " AS t (k)"))
        .containsExactly("+I[false, false]", "+I[null, null]", "+I[null, null]", "+I[true, true]");
    assertThat(SnapshotContains.clients()).isZero();
  }

  @Test
  void aSetThatNobodyPublishedEndsTheWait() {
    lookUps(broker.bootstrapServers());
    tables.getConfig().set("firstseen.snapshots.wait", "300 ms");
    tables.getConfig().set("restart-strategy.type", "none");
    assertThatThrownBy(() -> Sql.rows(tables, lookUp("missing")))
        .satisfies(
            e ->
                assertThat(messages(e))
                    .contains("waited for 300 ms; no snapshot of set 'missing' is available"));
    assertThat(SnapshotContains.clients()).isZero();
  }

  /** The job fails immediately, although its restart strategy would restart it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "firstseen|other|sequence 1 of set 'firstseen' cannot be used: the set is hashed by siphash-2-4 with key check ",
        "firstseen|other|configure the hash key that the publisher uses; 'firstseen.snapshots.hash-key-file' is '",
        "secret||configure the hash key that the publisher uses; 'firstseen.snapshots.hash-key-file' is not set",
        "firstseen|missing|cannot read the hash key at ",
        "firstseen|missing|on this TaskManager: there is no such file; put the key of set 'firstseen' there",
        "firstseen|empty|on this TaskManager: a hash key must be 32 hexadecimal digits, got 0 characters; put",
        "firstseen|.|on this TaskManager: it is a directory; put",
      })
  void aHashKeyThatNoRestartMendsEndsTheJob(String set, String file, String reason)
      throws Exception {
    Files.writeString(directory.resolve("other"), SECRET);
    Files.createFile(directory.resolve("empty"));
    lookUps(broker.bootstrapServers());
    if (file != null) {
      tables
          .getConfig()
          .set("firstseen.snapshots.hash-key-file", directory.resolve(file).toString());
    }
    tables.getConfig().set("restart-strategy.type", "fixed-delay");
    tables.getConfig().set("restart-strategy.fixed-delay.attempts", "1");
    assertThatThrownBy(() -> Sql.rows(tables, lookUp(set)))
        .satisfies(
            e ->
                assertThat(messages(e))
                    .contains("The failure is not recoverable", "SNAPSHOT_CONTAINS: ", reason));
    assertThat(SnapshotContains.clients()).isZero();
  }

  @Test
  void aSetIsAskedWithItsHashKey() throws Exception {
    Path key = Files.writeString(directory.resolve("key"), SECRET);
    lookUps(broker.bootstrapServers());
    tables.getConfig().set("firstseen.snapshots.hash-key-file", key.toString());
    assertThat(Sql.rows(tables, lookUp("secret"))).containsExactly("+I[true]");
  }

  private static String lookUp(String set) {
    return "SELECT SNAPSHOT_CONTAINS('%s', k) FROM (VALUES ('a')) AS t (k)".formatted(set);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "k, k|firstseen.snapshots.wait|1 s|the set of SNAPSHOT_CONTAINS must be a literal",
        "'s', k|firstseen.snapshots.wait|0 ms|'firstseen.snapshots.wait' must be in [1 ms, 36500 d], got 0 ms",
        "'s', k|firstseen.snapshots.wait|soon|'firstseen.snapshots.wait' must be a duration, such as '1 min', got 'soon'",
        "'s', k|firstseen.snapshots.wait|200000000000 d|'firstseen.snapshots.wait' must be in [1 ms, 36500 d], got 200000000000 d",
        "'s', k|firstseen.snapshots.bootstrap-servers|no-port|no-port",
      })
  void whatCannotWorkIsRefused(String arguments, String setting, String value, String reason) {
    lookUps(broker.bootstrapServers());
    tables.getConfig().set(setting, value);
    assertThatThrownBy(
            () ->
                tables.explainSql(
                    "SELECT SNAPSHOT_CONTAINS(%s) FROM (VALUES ('a'), ('b')) AS t (k)"
                        .formatted(arguments)))
        .satisfies(e -> assertThat(messages(e)).contains(reason));
  }

  private void lookUps(String servers) {
    tables.getConfig().set("firstseen.snapshots.bootstrap-servers", servers);
    tables.executeSql(
        "CREATE TEMPORARY FUNCTION SNAPSHOT_CONTAINS AS 'io.firstseen.sql.SnapshotContains'");
  }

  private static String messages(Throwable e) {
    return e == null ? "" : e.getMessage() + "\n" + messages(e.getCause());
  }
}
