package io.firstseen.faults;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the events of the model at a rate, but never more than about a thousand ahead of what the
 * pipeline has committed: so no event is later than the jobs' windows wait for, and the sets of all
 * windows are known.
 */
final class EventProducer implements AutoCloseable {
  private static final int CLOSING_KEYS = 256;
  private static final String DELIVERY_MILLIS = "600000";

  private final ExactModel model;
  private final OutputCheck output;
  private final int eventsPerSecond;
  private final int mostAhead;
  private final KafkaProducer<byte[], byte[]> producer;
  private final AtomicReference<Exception> refusal = new AtomicReference<>();
  private final Worker worker;
  private volatile int produced;
  private volatile boolean stopped;
  private volatile boolean losesNext;

  /**
   * A producer that starts at once.
   *
   * @param mostAhead of the lowest event that is not committed
   */
  EventProducer(
      String brokers, ExactModel model, OutputCheck output, int eventsPerSecond, int mostAhead) {
    this.model = model;
    this.output = output;
    this.eventsPerSecond = eventsPerSecond;
    this.mostAhead = mostAhead;
    this.producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                brokers,
                ProducerConfig.LINGER_MS_CONFIG,
                5,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                DELIVERY_MILLIS),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    this.worker = Worker.start("producer", this::produce);
  }

  /** How many events there are so far. */
  int produced() {
    return produced;
  }

  /** Why the broker has refused an event; null if it has not. */
  @Nullable Exception refusal() {
    return refusal.get();
  }

  /** Counts the next event without sending it. */
  void loseNext() {
    losesNext = true;
  }

  private void produce() {
    try {
      double due = System.nanoTime();
      while (!stopped && refusal.get() == null) {
        due = Math.max(due, System.nanoTime() - 1e8) + 1e9 / eventsPerSecond;
        long wait = (long) due - System.nanoTime();
        if (wait > 1_000_000) {
          TimeUnit.NANOSECONDS.sleep(wait);
        }
        while (!stopped && produced >= output.lowestUnseen() + mostAhead) {
          TimeUnit.MILLISECONDS.sleep(5);
        }
        int next = produced;
        ExactModel.Event event = model.event(next);
        if (losesNext) {
          losesNext = false;
        } else {
          send(
              event.number(),
              event.partition(),
              event.kind().isDelete() ? "delete" : "add",
              ExactModel.key(event.key()));
        }
        produced = next + 1;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      refusal.compareAndSet(null, e);
    }
  }

  private void send(int number, int partition, String operation, String key) {
    String json =
        "{\"ts\":%d,\"op\":\"%s\",\"key\":\"%s\"}"
            .formatted(model.settings().baseMillis() + number, operation, key);
    var unused =
        producer.send(
            new ProducerRecord<>(
                Pipeline.EVENTS, partition, null, json.getBytes(StandardCharsets.US_ASCII)),
            (place, e) -> {
              if (e != null) {
                refusal.compareAndSet(null, e);
              }
            });
  }

  /** Sends no more events, and returns how many there are when the broker has all of them. */
  int stop() {
    stopped = true;
    worker.join();
    producer.flush();
    return produced;
  }

  /** Sends events of other keys, which close all windows up to some ms behind the last event. */
  void closeWindows(int aheadMillis) {
    for (int i = 0; i < CLOSING_KEYS; i++) {
      send(
          produced + aheadMillis + i,
          i % model.settings().partitions(),
          "add",
          Watcher.CLOSING_PREFIX + i);
    }
    producer.flush();
  }

  @Override
  public void close() {
    stopped = true;
    worker.join();
    producer.close(Duration.ZERO);
  }
}
