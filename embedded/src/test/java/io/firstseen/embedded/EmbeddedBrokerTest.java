package io.firstseen.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedBrokerTest {
  @RegisterExtension private static final SharedBroker SHARED = SharedBroker.tuned();

  private static final String TOPIC = "events";
  private static final int PARTITIONS = 2;

  @Test
  void recordsWrittenAtOnceAfterCreationAllArriveInOrder() throws Exception {
    EmbeddedBroker broker = SHARED.broker();
    for (int round = 0; round < 5; round++) {
      String topic = SharedBroker.unused(TOPIC);
      broker.createTopics(List.of(new NewTopic(topic, 1, (short) 1)));
      List<String> sent = new ArrayList<>();
      List<Future<RecordMetadata>> results = new ArrayList<>();
      try (KafkaProducer<String, String> producer = producer(broker, Map.of())) {
        for (int i = 0; i < 500; i++) {
          sent.add("value " + i);
          results.add(producer.send(new ProducerRecord<>(topic, 0, null, "value " + i)));
        }
        producer.flush();
      }
      for (Future<RecordMetadata> result : results) {
        assertThat(result.get().hasOffset()).isTrue();
      }
      assertThat(read(broker, topic, 1, "read_uncommitted")).isEqualTo(sent);
    }
  }

  @Test
  void committedReadersSeeCommittedTransactionsOnly() throws Exception {
    EmbeddedBroker broker = SHARED.broker();
    String topic = SharedBroker.unused(TOPIC);
    broker.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1)));
    Map<String, Object> transactional = Map.of("transactional.id", topic);
    try (KafkaProducer<String, String> producer = producer(broker, transactional)) {
      producer.initTransactions();
      producer.beginTransaction();
      producer.send(new ProducerRecord<>(topic, 0, null, "committed")).get();
      producer.commitTransaction();
      producer.beginTransaction();
      producer.send(new ProducerRecord<>(topic, 1, null, "aborted")).get();
      producer.abortTransaction();
    }
    assertThat(read(broker, topic, PARTITIONS, "read_committed")).containsExactly("committed");
    assertThat(read(broker, topic, PARTITIONS, "read_uncommitted"))
        .containsExactlyInAnyOrder("committed", "aborted");
  }

  @Test
  void theTunedBrokerAllowsNoLongerTransactionsThanStockBrokers() {
    Map<String, Object> fifteenMinutes =
        Map.of("transactional.id", "test", "transaction.timeout.ms", 15 * 60 * 1000);
    Map<String, Object> oneHour =
        Map.of("transactional.id", "test", "transaction.timeout.ms", 60 * 60 * 1000);
    try (KafkaProducer<String, String> producer = producer(SHARED.broker(), fifteenMinutes)) {
      producer.initTransactions();
    }
    try (KafkaProducer<String, String> producer = producer(SHARED.broker(), oneHour)) {
      assertThatThrownBy(producer::initTransactions)
          .isInstanceOf(KafkaException.class)
          .hasMessageContaining("transaction timeout");
    }
  }

  @Test
  void startingAgainOnTheSameDirectoryAndPortBringsTheRecordsBack(@TempDir Path directory)
      throws Exception {
    int port = SharedBroker.freePort();
    EmbeddedBroker.Settings settings = EmbeddedBroker.Settings.tuned().port(port);
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory, settings)) {
      broker.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1)));
      try (KafkaProducer<String, String> producer = producer(broker, Map.of())) {
        producer.send(new ProducerRecord<>(TOPIC, "kept")).get();
      }
    }
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory, settings)) {
      assertThat(broker.bootstrapServers()).isEqualTo("localhost:" + port);
      broker.awaitTopics(List.of(TOPIC));
      assertThat(read(broker, TOPIC, 1, "read_committed")).containsExactly("kept");
    }
  }

  @Test
  void twoBrokersRunSideBySide(@TempDir Path directory) throws Exception {
    String topic = SharedBroker.unused(TOPIC);
    try (EmbeddedBroker other = EmbeddedBroker.start(directory, EmbeddedBroker.Settings.tuned())) {
      SHARED.broker().createTopics(List.of(new NewTopic(topic, 1, (short) 1)));
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", other.bootstrapServers()))) {
        assertThat(admin.listTopics().names().get()).doesNotContain(topic);
      }
    }
  }

  @Test
  void aTakenPortIsAnErrorWithTheNumber(@TempDir Path directory) throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("localhost"))) {
      EmbeddedBroker.Settings settings = EmbeddedBroker.Settings.tuned().port(taken.getLocalPort());
      assertThatThrownBy(() -> EmbeddedBroker.start(directory, settings))
          .isInstanceOf(BindException.class)
          .hasMessageContainingAll("port " + taken.getLocalPort(), "taken");
    }
  }

  /** With Kafka's fault handlers this would end the JVM. */
  @Test
  void aFailedStartLeavesTheJvmAndTheDirectoryUsable(@TempDir Path directory) throws IOException {
    EmbeddedBroker.Settings broken =
        EmbeddedBroker.Settings.tuned().with("authorizer.class.name", "no.such.Authorizer");
    assertThatThrownBy(() -> EmbeddedBroker.start(directory, broken))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no.such.Authorizer");
    EmbeddedBroker.start(directory, EmbeddedBroker.Settings.tuned()).close();
  }

  @Test
  void aTopicThatExistsIsNotCreatedAgain() {
    String topic = SharedBroker.unused(TOPIC);
    List<NewTopic> topics = List.of(new NewTopic(topic, 1, (short) 1));
    SHARED.broker().createTopics(topics);
    assertThatThrownBy(() -> SHARED.broker().createTopics(topics))
        .isInstanceOf(TopicExistsException.class)
        .hasMessageContaining(topic);
  }

  /** Another topic of the same age shows that the broker has looked for old records. */
  @Test
  @Timeout(60)
  void aTunedBrokerKeepsRecordsHoweverOldTheyAre(@TempDir Path directory) throws Exception {
    EmbeddedBroker.Settings settings =
        EmbeddedBroker.Settings.tuned()
            .with("log.initial.task.delay.ms", "100")
            .with("log.retention.check.interval.ms", "100")
            .with("log.segment.delete.delay.ms", "0");
    try (EmbeddedBroker broker = EmbeddedBroker.start(directory, settings);
        KafkaProducer<String, String> producer = producer(broker, Map.of())) {
      broker.createTopics(
          List.of(
              new NewTopic("kept", 1, (short) 1),
              new NewTopic("aWeek", 1, (short) 1).configs(Map.of("retention.ms", "604800000"))));
      producer.send(new ProducerRecord<>("kept", 0, 1_000L, null, "old")).get();
      producer.send(new ProducerRecord<>("aWeek", 0, 1_000L, null, "old")).get();
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
        TopicPartition aWeek = new TopicPartition("aWeek", 0);
        while (admin
                .listOffsets(Map.of(aWeek, OffsetSpec.earliest()))
                .partitionResult(aWeek)
                .get()
                .offset()
            == 0) {
          Thread.onSpinWait();
        }
      }
      assertThat(read(broker, "kept", 1, "read_committed")).containsExactly("old");
    }
  }

  @Test
  void settingsRefuseAPortThatIsNone() {
    assertThatThrownBy(() -> EmbeddedBroker.Settings.stock().port(65536))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("port", "[0, 65535]", "65536");
  }

  private static KafkaProducer<String, String> producer(
      EmbeddedBroker broker, Map<String, Object> settings) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put("bootstrap.servers", broker.bootstrapServers());
    return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
  }

  /** All values up to the current end, in order within each partition. */
  private static List<String> read(
      EmbeddedBroker broker, String topic, int partitions, String isolation) {
    Map<String, Object> settings =
        Map.of("bootstrap.servers", broker.bootstrapServers(), "isolation.level", isolation);
    List<TopicPartition> all =
        IntStream.range(0, partitions).mapToObj(p -> new TopicPartition(topic, p)).toList();
    List<String> values = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      while (all.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        consumer.poll(Duration.ofMillis(100)).forEach(r -> values.add(r.value()));
      }
    }
    return values;
  }
}
