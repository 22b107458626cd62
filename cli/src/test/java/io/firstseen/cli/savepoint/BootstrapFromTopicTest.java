package io.firstseen.cli.savepoint;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.ChangelogReader;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A savepoint of the live keys of an accepted topic. */
class BootstrapFromTopicTest {
  private static final byte[] VALUE = {1};

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(4);

  @TempDir private static Path directory;

  @BeforeAll
  static void writeTheHashKey() throws Exception {
    Files.writeString(directory.resolve("hash.key"), "000102030405060708090a0b0c0d0e0f");
  }

  private static Invocation bootstrap(String topic, String savepoint, String... words) {
    String[] all = new String[5 + words.length];
    all[0] = "bootstrap";
    all[1] = "--from-topic=" + topic;
    all[2] = "--bootstrap-servers=" + KAFKA.servers();
    all[3] = "--savepoint=" + directory.resolve(savepoint);
    all[4] = "--hash-key-file=" + directory.resolve("hash.key");
    System.arraycopy(words, 0, all, 5, words.length);
    return Invocation.of(all);
  }

  /** Writes transactions, of which the last is not committed; all keys but one are live. */
  private static void send(String topic) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", KAFKA.servers(), "transactional.id", topic),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      producer.initTransactions();
      producer.beginTransaction();
      send(producer, topic, 0, "lives".getBytes(UTF_8), VALUE);
      send(producer, topic, 0, "removed".getBytes(UTF_8), VALUE);
      send(producer, topic, 1, "back".getBytes(UTF_8), VALUE);
      // Compaction keeps a tombstone for a while after it has deleted the record.
      send(producer, topic, 1, "compacted".getBytes(UTF_8), null);
      send(producer, topic, 1, null, VALUE);
      send(producer, topic, 1, new byte[] {(byte) 0xFF, (byte) 0x80}, VALUE);
      producer.commitTransaction();
      producer.beginTransaction();
      send(producer, topic, 0, "removed".getBytes(UTF_8), null);
      send(producer, topic, 1, "back".getBytes(UTF_8), null);
      send(producer, topic, 1, "back".getBytes(UTF_8), VALUE);
      send(
          producer, topic, 1, ScopedKey.join("t".getBytes(UTF_8), "scoped".getBytes(UTF_8)), VALUE);
      producer.commitTransaction();
      producer.beginTransaction();
      send(producer, topic, 0, "aborted".getBytes(UTF_8), VALUE);
      producer.abortTransaction();
    }
  }

  private static void send(
      KafkaProducer<byte[], byte[]> producer, String topic, int partition, byte[] key, byte[] value)
      throws Exception {
    byte[] time = ByteBuffer.allocate(Long.BYTES).putLong(1_000).array();
    send(producer, topic, partition, key, value, new RecordHeader("firstseen.timestamp", time));
  }

  private static void send(
      KafkaProducer<byte[], byte[]> producer,
      String topic,
      int partition,
      byte[] key,
      byte[] value,
      Header... headers)
      throws Exception {
    producer
        .send(new ProducerRecord<>(topic, partition, 1_000L, key, value, List.of(headers)))
        .get();
  }

  /** Manifests, claims and events have no header of ours. */
  @Test
  void aTopicOfAnotherKindIsRejected() throws Exception {
    Header time = new RecordHeader("firstseen.timestamp", new byte[Long.BYTES]);
    Map<String, Header[]> kinds =
        Map.of(
            "has a record without the header firstseen.timestamp",
            new Header[0],
            "is a topic of duplicates",
            new Header[] {time, new RecordHeader("firstseen.outcome", "duplicate".getBytes(UTF_8))},
            "is a topic of dead letters",
            new Header[] {time, new RecordHeader("firstseen.reason", "bad".getBytes(UTF_8))});
    for (Map.Entry<String, Header[]> kind : kinds.entrySet()) {
      String topic = SharedBroker.unused("kind");
      KAFKA.broker().createTopics(List.of(new NewTopic(topic, 1, (short) 1)));
      try (KafkaProducer<byte[], byte[]> producer =
          new KafkaProducer<>(
              Map.of("bootstrap.servers", KAFKA.servers()),
              new ByteArraySerializer(),
              new ByteArraySerializer())) {
        send(producer, topic, 0, "key".getBytes(UTF_8), VALUE, kind.getValue());
      }
      Invocation rejected = bootstrap(topic, "S");
      assertThat(rejected.status()).isEqualTo(ExitCode.USAGE);
      assertThat(rejected.err())
          .containsExactly(
              "firstseen bootstrap: topic %s is not the accepted topic of a dedup job: it %s (%s-0@0)"
                  .formatted(topic, kind.getKey(), topic));
      assertThat(directory.resolve("S")).doesNotExist();
    }
  }

  @Test
  void theKeysThatLiveAreKnown() throws Exception {
    String topic = SharedBroker.unused("accepted");
    // Without compaction, the broker accepts a record without a key.
    KAFKA.broker().createTopics(List.of(new NewTopic(topic, 2, (short) 1)));
    send(topic);
    Path deadLetters = directory.resolve("D");
    Invocation made = bootstrap(topic, "with a space", "--dead-letters=" + deadLetters);
    assertThat(made.status()).as("%s", made).isZero();
    assertThat(made.err()).isEmpty();
    assertThat(made.out())
        .contains("events              10", "dead letters        2", "keys                3");
    Invocation info =
        Invocation.of("savepoint", "info", directory.resolve("with a space").toString());
    assertThat(info.status()).as("%s", info).isZero();
    assertThat(Files.readString(deadLetters, ISO_8859_1))
        .contains(topic + "-1@2\tkey is missing\t\n")
        .contains(topic + "-1@3\ta joined key must hold its scope's length in 1 to 3 bytes");

    Path input = directory.resolve("in");
    Files.writeString(
        input,
        """
        {"ts":2,"op":"add","key":"lives"}
        {"ts":2,"op":"add","key":"back"}
        {"ts":2,"op":"add","key":"scoped","scope":"t"}
        {"ts":2,"op":"add","key":"removed"}
        {"ts":2,"op":"add","key":"aborted"}
        """);
    Path accepted = directory.resolve("A");
    Invocation run =
        Invocation.of(
            "run",
            "--input=" + input,
            "--format=jsonl",
            "--accepted=" + accepted,
            "--from-savepoint=" + directory.resolve("with a space"),
            "--hash-key-file=" + directory.resolve("hash.key"));
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(Files.readAllLines(accepted))
        .containsExactlyInAnyOrder(
            "{\"ts\":2,\"op\":\"add\",\"key\":\"removed\"}",
            "{\"ts\":2,\"op\":\"add\",\"key\":\"aborted\"}");
  }

  /** As lines of lists they would be patterns and a range. */
  @Tag("slow")
  @Test
  void formsWithStarsAreKnown() throws Exception {
    String topic = SharedBroker.unused("accepted");
    KAFKA.broker().createTopics(List.of(new NewTopic(topic, 2, (short) 1)));
    List<String> forms = List.of("a.example/*.js", "a.example/?to=*", "192.0.2.1/5");
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", KAFKA.servers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (String form : forms) {
        send(producer, topic, 0, form.getBytes(UTF_8), VALUE);
      }
    }
    Invocation made = bootstrap(topic, "E", "--canonicaliser=url-expression");
    assertThat(made.status()).as("%s", made).isZero();
    assertThat(made.out()).contains("dead letters        0", "keys                3");

    Path input = directory.resolve("lines");
    Files.writeString(
        input,
        "http://a.example/*.js\nhttp://a.example/?to=*\nhttp://192.0.2.1/5\nhttp://192.0.2.1/6\n");
    Path accepted = directory.resolve("E.accepted");
    Invocation run =
        Invocation.of(
            "run",
            "--input=" + input,
            "--canonicaliser=url-expression",
            "--accepted=" + accepted,
            "--from-savepoint=" + directory.resolve("E"),
            "--hash-key-file=" + directory.resolve("hash.key"));
    assertThat(run.status()).as("%s", run).isZero();
    assertThat(Files.readAllLines(accepted)).containsExactly("http://192.0.2.1/6");
  }

  /** With a different hash key and number of shards from the writer of the topic. */
  @Test
  void aPipelineOnKafkaStartsFromIt() throws Exception {
    String oldAccepted = SharedBroker.unused("old");
    String events = SharedBroker.unused("events");
    String accepted = SharedBroker.unused("accepted");
    String duplicates = SharedBroker.unused("duplicates");
    KAFKA
        .broker()
        .createTopics(
            List.of(new NewTopic(oldAccepted, 2, (short) 1), new NewTopic(events, 1, (short) 1)));
    send(oldAccepted);
    assertThat(bootstrap(oldAccepted, "P", "--dedup-shards=16").status()).isZero();
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", KAFKA.servers()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (String key : List.of("lives", "removed", "back", "new")) {
        String event = "{\"ts\":%d,\"op\":\"add\",\"key\":\"%s\"}".formatted(1_000, key);
        send(producer, events, 0, null, event.getBytes(UTF_8));
      }
    }
    Configuration start = new Configuration();
    start.set(StateRecoveryOptions.SAVEPOINT_PATH, directory.resolve("P").toUri().toString());
    StreamExecutionEnvironment env = FLINK.environment(start);
    JobMain.buildOnKafka(
        env,
        Job.PIPELINE,
        KafkaOptions.parse(
            "--bootstrap-servers=" + KAFKA.servers(),
            "--checkpoint-interval=300ms",
            "--transactional-id-prefix=" + accepted,
            "--events-topic=" + events,
            "--accepted-topic=" + accepted,
            "--duplicates-topic=" + duplicates,
            "--dead-letters-topic=" + SharedBroker.unused("dead-letters"),
            "--snapshots-topic=" + SharedBroker.unused("snapshots"),
            "--accept-changes=set"),
        JobOptions.parse(
            "--parallelism=2",
            "--state-backend=rocksdb",
            "--dedup-shards=16",
            "--hash-key-file=" + directory.resolve("hash.key")));
    env.executeAsync();
    assertThat(committed(duplicates, 2)).containsExactlyInAnyOrder("lives", "back");
    assertThat(committed(accepted, 2)).containsExactlyInAnyOrder("removed", "new");
  }

  /** The keys of a topic's committed records, when there are enough of them. */
  private static List<String> committed(String topic, int count) throws Exception {
    return KAFKA.broker().awaitCommitted(topic, count).stream().map(ConsumerRecord::key).toList();
  }

  /** Like a broker with a topic that also deletes by age. */
  @Tag("slow")
  @Test
  void whatIsDeletedWhileItIsReadHidesNothingAfterIt() throws Exception {
    String topic = SharedBroker.unused("ageing");
    KAFKA.broker().createTopics(List.of(new NewTopic(topic, 1, (short) 1)));
    Map<String, Object> servers = Map.of("bootstrap.servers", KAFKA.servers());
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(servers, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < 200; i++) {
        send(producer, topic, 0, ("key-" + i).getBytes(UTF_8), VALUE);
      }
    }
    Properties client = new Properties();
    client.putAll(servers);
    // A batch, which is a record, for each request.
    client.setProperty("max.partition.fetch.bytes", "1");
    List<String> read = new ArrayList<>();
    try (Admin admin = Admin.create(servers)) {
      ChangelogReader.read(
          client,
          topic,
          Duration.ofDays(1),
          event -> {
            if (read.isEmpty()) {
              RecordsToDelete oldest = RecordsToDelete.beforeOffset(150);
              admin
                  .deleteRecords(Map.of(new TopicPartition(topic, 0), oldest))
                  .all()
                  .toCompletionStage()
                  .toCompletableFuture()
                  .join();
            }
            read.add(new String(event.key(), UTF_8));
          });
    }
    assertThat(read).hasSizeLessThan(150).contains("key-0", "key-150", "key-199");
  }

  @Test
  void anEmptyTopicGivesASavepointOfNothing() {
    String empty = SharedBroker.unused("empty");
    KAFKA.broker().createTopic(empty, 3);
    Invocation made = bootstrap(empty, "nothing");
    assertThat(made.status()).as("%s", made).isZero();
    assertThat(made.out()).contains("events              0", "keys                0");
  }

  @Test
  void aTopicThatIsNotThereIsOneLine() {
    Invocation call = bootstrap("none", "N");
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.err())
        .containsExactly("firstseen bootstrap: topic none does not exist at " + KAFKA.servers());
    assertThat(directory.resolve("N")).doesNotExist();
  }

  @Test
  void aHostThatDoesNotExistIsOneLine() {
    Invocation call =
        Invocation.of(
            "bootstrap",
            "--from-topic=t",
            "--bootstrap-servers=no.such.host.invalid:9092",
            "--savepoint=" + directory.resolve("H"));
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.err())
        .singleElement()
        .asString()
        .startsWith("firstseen bootstrap: cannot read topic t at no.such.host.invalid:9092: ");
    assertThat(directory.resolve("H")).doesNotExist();
  }

  /** It waits for twelve seconds. */
  @Tag("slow")
  @Test
  void aBrokerThatIsNotThereIsOneLine() throws IOException {
    String nobody;
    try (ServerSocket free = new ServerSocket(0)) {
      nobody = "localhost:" + free.getLocalPort();
    }
    Invocation call =
        Invocation.of(
            "bootstrap",
            "--from-topic=t",
            "--bootstrap-servers=" + nobody,
            "--savepoint=" + directory.resolve("B"));
    assertThat(call.status()).isEqualTo(ExitCode.USAGE);
    assertThat(call.err())
        .containsExactly(
            "firstseen bootstrap: cannot read topic t at %s: no Kafka broker responds (waited 12s)"
                .formatted(nobody));
    assertThat(directory.resolve("B")).doesNotExist();
  }
}
