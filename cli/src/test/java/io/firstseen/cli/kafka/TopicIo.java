package io.firstseen.cli.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.TopicReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes and reads whole topics. */
public final class TopicIo implements AutoCloseable {
  /** Whether the records of a topic are those that a test waits for. */
  public interface Enough {
    /** Whether they are. */
    boolean test(List<ConsumerRecord<byte[], byte[]>> records) throws Exception;
  }

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final String servers;
  private final KafkaProducer<byte[], byte[]> producer;

  /** Opens a producer. */
  public TopicIo(String servers) {
    this.servers = servers;
    this.producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", servers),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  /** Sends values; those of one key go to one partition and so keep their order. */
  public void send(String topic, int partitions, List<String> values) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      byte[] value = values.get(i).getBytes(UTF_8);
      int partition = Math.floorMod(EventStream.keyOf(values.get(i)).hashCode(), partitions);
      sent.add(producer.send(new ProducerRecord<>(topic, partition, null, value)));
    }
    for (Future<RecordMetadata> one : sent) {
      one.get();
    }
  }

  /** All records of a topic that readers of a level see now, partition by partition. */
  List<ConsumerRecord<byte[], byte[]>> read(String topic, IsolationLevel isolation) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(isolation)) {
      List<TopicPartition> partitions = partitions(consumer, topic);
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        consumer.poll(Duration.ofMillis(100)).forEach(records::add);
      }
    }
    return records;
  }

  /** The committed records among all that are written by now, as {@link TopicReader} reads them. */
  List<ConsumerRecord<byte[], byte[]>> readCommitted(String topic) throws TimeoutException {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    new TopicReader<>(servers, new ByteArrayDeserializer(), new ByteArrayDeserializer())
        .read(topic, records::add);
    return records;
  }

  /** Reads a topic, which may not be there yet, until what was read is enough. */
  public List<ConsumerRecord<byte[], byte[]>> readUntil(
      String topic, IsolationLevel isolation, Enough enough) throws Exception {
    long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(isolation)) {
      List<TopicPartition> partitions = partitions(consumer, topic);
      while (partitions.isEmpty()) {
        assertThat(System.nanoTime()).as("there is no %s", topic).isLessThan(deadlineNanos);
        TimeUnit.MILLISECONDS.sleep(50);
        partitions = partitions(consumer, topic);
      }
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      while (!enough.test(records)) {
        assertThat(System.nanoTime())
            .as("%s: %d records are not enough", topic, records.size())
            .isLessThan(deadlineNanos);
        consumer.poll(Duration.ofMillis(50)).forEach(records::add);
      }
    }
    return records;
  }

  private KafkaConsumer<byte[], byte[]> consumer(IsolationLevel isolation) {
    Map<String, Object> properties =
        Map.of(
            "bootstrap.servers",
            servers,
            "isolation.level",
            isolation.toString(),
            // To close a consumer waits for so long.
            "fetch.max.wait.ms",
            20);
    return new KafkaConsumer<>(
        properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private static List<TopicPartition> partitions(
      KafkaConsumer<byte[], byte[]> consumer, String topic) {
    return consumer.partitionsFor(topic).stream()
        .map(info -> new TopicPartition(topic, info.partition()))
        .toList();
  }

  boolean exists(String topic) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
      return admin.listTopics().names().get().contains(topic);
    }
  }

  /** Waits until a topic has so many records; more are an error. */
  void await(String topic, IsolationLevel isolation, int count) throws Exception {
    assertThat(readUntil(topic, isolation, records -> records.size() >= count))
        .as(topic)
        .hasSize(count);
  }

  /** Where each partition ends for committed readers. */
  Map<TopicPartition, Long> ends(String topic) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
      Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
      admin
          .describeTopics(List.of(topic))
          .allTopicNames()
          .get()
          .get(topic)
          .partitions()
          .forEach(
              info -> latest.put(new TopicPartition(topic, info.partition()), OffsetSpec.latest()));
      Map<TopicPartition, Long> ends = new HashMap<>();
      admin
          .listOffsets(latest, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
          .all()
          .get()
          .forEach((partition, info) -> ends.put(partition, info.offset()));
      return ends;
    }
  }

  @Override
  public void close() {
    producer.close();
  }
}
