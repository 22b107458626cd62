package io.firstseen.cli.demo;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends the demo's stream at its rate, with the send time as the event time. */
final class EventProducer {
  private static final int LINGER_MILLIS = 5;

  private final String bootstrapServers;
  private final String topic;
  private final long eventsPerSecond;

  EventProducer(String bootstrapServers, String topic, long eventsPerSecond) {
    this.bootstrapServers = bootstrapServers;
    this.topic = topic;
    this.eventsPerSecond = eventsPerSecond;
  }

  /**
   * Sends every event once and returns when the broker has acknowledged all.
   *
   * @throws KafkaException if the broker rejects an event
   */
  void send(List<DemoEvent> events) throws InterruptedException {
    AtomicReference<Exception> rejection = new AtomicReference<>();
    // In order and without duplicates: Kafka's default is an idempotent producer.
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ProducerConfig.LINGER_MS_CONFIG,
                LINGER_MILLIS),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      long startNanos = System.nanoTime();
      for (int i = 0; i < events.size() && rejection.get() == null; i++) {
        awaitNanos(startNanos + Math.round(i * 1e9 / eventsPerSecond));
        DemoEvent event = events.get(i);
        var unused =
            producer.send(
                new ProducerRecord<>(
                    topic,
                    event.partition(),
                    event.recordKey(),
                    event.recordValue(System.currentTimeMillis())),
                (place, e) -> {
                  if (e != null) {
                    rejection.compareAndSet(null, e);
                  }
                });
      }
      producer.flush();
    }
    if (rejection.get() != null) {
      throw new KafkaException("an event was rejected: " + rejection.get().getMessage());
    }
  }

  private static void awaitNanos(long dueNanos) throws InterruptedException {
    long waitMillis = TimeUnit.NANOSECONDS.toMillis(dueNanos - System.nanoTime());
    if (waitMillis > 0) {
      TimeUnit.MILLISECONDS.sleep(waitMillis);
    }
  }
}
