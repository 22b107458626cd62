package io.firstseen.sql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.fixtures.SnapshotWriter;
import io.firstseen.fixtures.TopicIo;
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
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The examples of SQL and the functions that query snapshots, with a real planner and a real
 * broker.
 */
class KafkaExamplesTest {
  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(4)
              .build());

  private static final String SECRET = "01".repeat(16);

  private static final String SPAM = "Dear Anna, claim your FREE prize worth $500 today!";

  @TempDir private static Path brokerDirectory;
  private static EmbeddedBroker broker;

  @TempDir private Path directory;
  private StreamTableEnvironment tables;

  @BeforeAll
  static void startBroker() throws Exception {
    broker = EmbeddedBroker.start(brokerDirectory, EmbeddedBroker.Settings.tuned());
    SnapshotWriter.createTopic(broker, "firstseen.snapshots");
    for (String topic : List.of("visitors", "clicks", "new-clicks", "repeated-clicks")) {
      broker.createTopic(topic, 1);
    }
    try (SnapshotWriter snapshots = new SnapshotWriter(broker, "firstseen.snapshots")) {
      snapshots.publishAs("firstseen", 1, "https://example.org/b", "Example.ORG");
      snapshots.publish(
          SnapshotWriter.publisher("secret", KeyHash.parse(SECRET), 1),
          1,
          KeyHash.parse(SECRET).hash("a".getBytes(UTF_8)));
      snapshots.publish(
          SnapshotWriter.publisher("scoped", KeyHash.fixed(), 1),
          1,
          KeyHash.fixed().hash(ScopedKey.join("ann".getBytes(UTF_8), "a".getBytes(UTF_8))));
      SetParameters texts =
          SetParameters.of(KeyHash.fixed(), Canonicaliser.TEXT, new Shards(1), 1e-9)
              .withNear(NearRule.SHORT);
      byte[] text = Canonicaliser.TEXT.canonicalise(SPAM.getBytes(UTF_8));
      snapshots.publish(
          new SetPublisher("texts", texts),
          1,
          new TextSignature(NearRule.SHORT, KeyHash.fixed()).elements(text));
      snapshots.publishList("blocked", 1, "example.org/", "example.org/a");
      snapshots.publishList("more", 1, "example.org/b", "other.example/");
      snapshots.publishList("allowed", 1, "example.org/b");
    }
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  @BeforeEach
  void makeEnvironment() {
    tables = Sql.tables();
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
  void outcomes() throws Exception {
    Sql.runExample(tables, "outcomes.sql", directory, broker.bootstrapServers());
    assertThat(Sql.lines(directory.resolve("accepted"))).hasSize(2);
    assertThat(Sql.lines(directory.resolve("duplicates"))).hasSize(2);
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
  void pipeline() throws Exception {
    try (TopicIo topics = new TopicIo(broker.bootstrapServers())) {
      topics.send("clicks", 1, Files.readAllLines(Path.of("../examples/sql/clicks.json")));
    }
    Sql.runExample(tables, "pipeline.sql", directory, broker.bootstrapServers());
    assertThat(broker.readCommitted("new-clicks"))
        .extracting(ConsumerRecord::value)
        .containsExactlyInAnyOrder(
            "{\"url\":\"https://example.org/a?x=1\",\"visitor\":\"ann\",\"entry\":\"example.org/a\"}",
            "{\"url\":\"https://example.org/b\",\"visitor\":\"bob\",\"entry\":null}");
    assertThat(broker.readCommitted("repeated-clicks")).hasSize(2);
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
  void scopesAreApart() {
    lookUps(broker.bootstrapServers());
    assertThat(
            Sql.rows(
                tables,
                "SELECT SNAPSHOT_CONTAINS('scoped', k, s), SNAPSHOT_CONTAINS('scoped', CAST(k AS"
                    + " BYTES), CAST(s AS BYTES)) FROM (VALUES ('a', 'ann'), ('a', 'bob'), ('a',"
                    + " CAST(NULL AS STRING))) AS t (k, s)"))
        .containsExactly("+I[false, false]", "+I[false, false]", "+I[true, true]");
  }

  @Test
  void snapshotMatch() throws Exception {
    Sql.runExample(tables, "snapshot-match.sql", directory, broker.bootstrapServers());
    assertThat(Sql.lines(directory.resolve("blocked")))
        .containsExactly(
            "{\"url\":\"HTTPS://EXAMPLE.org:443/a?x=1\",\"entry\":\"example.org/a\"}",
            "{\"url\":\"https://example.org/a?x=1\",\"entry\":\"example.org/a\"}",
            "{\"url\":\"https://example.org/a?x=1\",\"entry\":\"example.org/a\"}");
    assertThat(SnapshotContains.clients()).isZero();
  }

  @Test
  void theFirstListThatHasAUrlNamesTheEntry() {
    lookUps(broker.bootstrapServers());
    assertThat(
            Sql.rows(
                tables,
                "SELECT SNAPSHOT_MATCH('more, blocked', u) FROM (VALUES ('http://example.org/b'),"
                    + " ('http://a.example.org/x'), ('http://unlisted.example/'), ('no url'),"
                    + " (CAST(NULL AS STRING))) AS t (u)"))
        .containsExactly(
            "+I[example.org/]", "+I[example.org/b]", "+I[null]", "+I[null]", "+I[null]");
    assertThatThrownBy(
            () ->
                Sql.rows(
                    tables, "SELECT SNAPSHOT_MATCH('firstseen', u) FROM (VALUES ('a')) AS t (u)"))
        .satisfies(
            e ->
                assertThat(messages(e))
                    .contains(
                        "SNAPSHOT_MATCH: set 'firstseen' must have the canonicaliser url-expression"));
    assertThat(SnapshotContains.clients()).isZero();
  }

  @Test
  void snapshotResembles() {
    lookUps(broker.bootstrapServers());
    String texts =
        "(VALUES ('%s'), ('dear Robert, claim your free prize worth £20 today'), ('see you at"
            + " noon'), (''), (CAST(NULL AS STRING))) AS t (k)";
    assertThat(
            Sql.rows(
                tables,
                ("SELECT SNAPSHOT_RESEMBLES('texts', k), SNAPSHOT_RESEMBLES('texts', CAST(k AS"
                        + " BYTES)), SNAPSHOT_RESEMBLES('texts', k, 'other'),"
                        + " SNAPSHOT_CONTAINS('texts', k) FROM "
                        + texts)
                    .formatted(SPAM)))
        .containsExactly(
            "+I[0, 0, 0, false]",
            "+I[32, 32, 0, true]",
            "+I[4, 4, 0, false]",
            "+I[null, null, null, null]",
            "+I[null, null, null, null]");
    for (String query :
        List.of(
            "SNAPSHOT_RESEMBLES('firstseen', k)|SNAPSHOT_RESEMBLES: set 'firstseen' has no rule for"
                + " near-duplicates: publish it with --near",
            "SNAPSHOT_MATCH('texts', k)|SNAPSHOT_MATCH: set 'texts' must have the canonicaliser"
                + " url-expression")) {
      String[] parts = query.split("\\|", -1);
      assertThatThrownBy(
              () -> Sql.rows(tables, "SELECT %s FROM (VALUES ('a')) AS t (k)".formatted(parts[0])))
          .satisfies(e -> assertThat(messages(e)).contains(parts[1]));
    }
    assertThat(SnapshotContains.clients()).isZero();
  }

  @Test
  void settingsOfTheClient() throws Exception {
    lookUps(broker.bootstrapServers());
    Path key =
        Files.writeString(directory.resolve("key.pem"), SigningKey.generate().publicKey().toPem());
    tables.getConfig().set("firstseen.snapshots.wait", "5 s");
    tables.getConfig().set("restart-strategy.type", "none");
    tables.getConfig().set("firstseen.snapshots.public-key", key.toString());
    assertThatThrownBy(() -> Sql.rows(tables, lookUp("firstseen")))
        .satisfies(e -> assertThat(messages(e)).contains("signature"));
    tables.getConfig().set("firstseen.snapshots.public-key", directory.resolve("none").toString());
    assertThatThrownBy(() -> Sql.rows(tables, lookUp("firstseen")))
        .satisfies(e -> assertThat(messages(e)).contains("cannot read the public key at "));
    tables.getConfig().set("firstseen.snapshots.public-key", "");
    tables.getConfig().set("firstseen.snapshots.properties.security.protocol", "NONE");
    assertThatThrownBy(() -> tables.explainSql(lookUp("firstseen")))
        .satisfies(
            e ->
                assertThat(messages(e))
                    .contains("Invalid value NONE for configuration security.protocol"));
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
    tables.executeSql(
        "CREATE TEMPORARY FUNCTION SNAPSHOT_MATCH AS 'io.firstseen.sql.SnapshotMatch'");
    tables.executeSql(
        "CREATE TEMPORARY FUNCTION SNAPSHOT_RESEMBLES AS 'io.firstseen.sql.SnapshotResembles'");
  }

  private static String messages(Throwable e) {
    return e == null ? "" : e.getMessage() + "\n" + messages(e.getCause());
  }
}
