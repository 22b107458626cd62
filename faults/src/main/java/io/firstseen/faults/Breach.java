package io.firstseen.faults;

import io.firstseen.embedded.TopicReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
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
    }
  }

  /** Writes the first record with a value, of a key unless it is null. */
  private static void writeAgain(String brokers, String topic, @Nullable String key)
      throws Exception {
    AtomicReference<ConsumerRecord<byte[], byte[]>> first = new AtomicReference<>();
    new TopicReader<>(brokers, new ByteArrayDeserializer(), new ByteArrayDeserializer())
        .read(
            topic,
            record -> {
              if (record.value() != null
                  && (key == null
                      || key.equals(new String(record.key(), StandardCharsets.US_ASCII)))) {
                first.compareAndSet(null, record);
              }
            });
    ConsumerRecord<byte[], byte[]> record = first.get();
    if (record == null) {
      throw new IllegalStateException("there is no record to write again on " + topic);
    }
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      producer
          .send(
              new ProducerRecord<>(
                  topic, record.partition(), record.key(), record.value(), record.headers()))
          .get();
    }
  }
}
