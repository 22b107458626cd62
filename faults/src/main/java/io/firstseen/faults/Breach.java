package io.firstseen.faults;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** A breach of the guarantees that the suite commits on purpose, to see that it is found. */
enum Breach {
  /** An accepted record is written to its topic once more. */
  DOUBLE,
  /** An event is counted and not sent. */
  LOSS,
  /** An old manifest is published once more. */
  SNAPSHOT;

  private static final int MAX_POLLS = 100;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Commits it. */
  void commit(String brokers, EventProducer producer) throws Exception {
    switch (this) {
      case DOUBLE -> writeAgain(brokers, Pipeline.ACCEPTED, null);
      case LOSS -> producer.loseNext();
      case SNAPSHOT -> writeAgain(brokers, Pipeline.SNAPSHOTS, Pipeline.SET);
      default -> throw new AssertionError(this);
    }
  }

  /** Writes the first record with a value of the first partition, of a key unless it is null. */
  private static void writeAgain(String brokers, String topic, @Nullable String key)
      throws Exception {
    TopicPartition partition = new TopicPartition(topic, 0);
    try (KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(
                Map.of(
                    ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                    brokers,
                    ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                    "read_committed"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        KafkaProducer<byte[], byte[]> writer =
            new KafkaProducer<>(
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      for (int poll = 0; poll < MAX_POLLS; poll++) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
          if (record.value() != null
              && (key == null || key.equals(new String(record.key(), StandardCharsets.US_ASCII)))) {
            writer
                .send(
                    new ProducerRecord<>(topic, 0, record.key(), record.value(), record.headers()))
                .get();
            return;
          }
        }
      }
    }
    throw new IllegalStateException("there is no record to write again on " + topic);
  }
}
