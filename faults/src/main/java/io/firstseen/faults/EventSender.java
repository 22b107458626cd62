package io.firstseen.faults;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends events to the topic of events. */
final class EventSender implements AutoCloseable {
  private final KafkaProducer<byte[], byte[]> producer;
  private final Worker worker;

  /**
   * Creates a sender.
   *
   * @param settings settings of the Kafka producer
   * @param worker the thread that sends; fails if the broker rejects an event
   */
  EventSender(String brokers, Map<String, Object> settings, Worker worker) {
    Map<String, Object> all = new HashMap<>(settings);
    all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
    this.producer = new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    this.worker = worker;
  }

  /** Sends an event without waiting for the broker. */
  void send(int partition, long millis, boolean isDelete, String key) {
    String operation = isDelete ? "delete" : "add";
    String json = "{\"ts\":" + millis + ",\"op\":\"" + operation + "\",\"key\":\"" + key + "\"}";
    var unused =
        producer.send(
            new ProducerRecord<>(
                Pipeline.EVENTS, partition, null, json.getBytes(StandardCharsets.US_ASCII)),
            (place, e) -> {
              if (e != null) {
                worker.fail(e);
              }
            });
  }

  /** Waits until the broker has all events. */
  void flush() {
    producer.flush();
  }

  @Override
  public void close() {
    producer.close(Duration.ZERO);
  }
}
