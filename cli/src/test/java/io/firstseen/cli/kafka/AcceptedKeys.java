package io.firstseen.cli.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes an accepted topic of one partition like a dedup job. */
final class AcceptedKeys implements AutoCloseable {
  private final String topic;
  private final KafkaProducer<byte[], byte[]> producer;
  private final List<Future<RecordMetadata>> sent = new ArrayList<>();

  AcceptedKeys(String servers, String topic) {
    this.topic = topic;
    this.producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", servers),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  AcceptedKeys add(String key, long millis) {
    return send(key, new byte[] {1}, millis);
  }

  AcceptedKeys remove(String key, long millis) {
    return send(key, null, millis);
  }

  private AcceptedKeys send(String key, byte[] value, long millis) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, 0, key.getBytes(UTF_8), value);
    byte[] timestamp = ByteBuffer.allocate(Long.BYTES).putLong(millis).array();
    record.headers().add("firstseen.timestamp", timestamp);
    sent.add(producer.send(record));
    return this;
  }

  /** Waits until all is on the topic. */
  void flush() throws Exception {
    for (Future<RecordMetadata> one : sent) {
      one.get();
    }
    sent.clear();
  }

  @Override
  public void close() {
    producer.close();
  }
}
