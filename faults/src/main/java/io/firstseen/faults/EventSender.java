package io.firstseen.faults;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A thread that sends events to the topic of events; fails if the broker rejects an event. */
abstract class EventSender extends Worker {
  private final KafkaProducer<byte[], byte[]> producer;

  /** Creates a sender with settings of the Kafka producer. */
  EventSender(String brokers, Map<String, Object> settings) {
    super("producer");
    Map<String, Object> all = new HashMap<>(settings);
    all.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
    this.producer = new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Sends an event without waiting for the broker. */
  final void send(int partition, long millis, boolean isDelete, String key) {
    String operation = isDelete ? "delete" : "add";
    String json = "{\"ts\":" + millis + ",\"op\":\"" + operation + "\",\"key\":\"" + key + "\"}";
    var unused =
        producer.send(
            new ProducerRecord<>(
                Pipeline.EVENTS, partition, null, json.getBytes(StandardCharsets.US_ASCII)),
            (place, e) -> {
              if (e != null) {
                fail(e);
              }
            });
  }

  /** Waits until the broker has all events. */
  final void flush() {
    producer.flush();
  }

  @Override
  public void close() {
    stop();
    producer.close(Duration.ZERO);
  }
}
