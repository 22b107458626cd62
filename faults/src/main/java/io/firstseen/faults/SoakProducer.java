package io.firstseen.faults;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Sends the events of a soak as fast as the dedup reads them. */
final class SoakProducer implements AutoCloseable {
  private final SoakStream stream;
  private final int partitions;
  private final long mostAhead;
  private final LongSupplier committed;
  private final KafkaProducer<byte[], byte[]> producer;
  private final AtomicReference<Exception> refusal = new AtomicReference<>();
  private final Worker worker;
  private volatile boolean stopped;

  /**
   * A producer that starts at once.
   *
   * @param mostAhead how many events it may be ahead of those that are committed
   * @param committed how many these are
   */
  SoakProducer(
      String brokers, SoakStream stream, int partitions, long mostAhead, LongSupplier committed) {
    this.stream = stream;
    this.partitions = partitions;
    this.mostAhead = mostAhead;
    this.committed = committed;
    this.producer =
        new KafkaProducer<>(
            Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                brokers,
                ProducerConfig.LINGER_MS_CONFIG,
                20,
                ProducerConfig.BATCH_SIZE_CONFIG,
                1 << 17),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    this.worker = Worker.start("producer", this::produce);
  }

  /** Why the broker has refused an event; null if it has not. */
  @Nullable Exception refusal() {
    return refusal.get();
  }

  private void produce() {
    try {
      for (long number = 0; !stopped && refusal.get() == null; number++) {
        while (!stopped && number >= committed.getAsLong() + mostAhead) {
          TimeUnit.MILLISECONDS.sleep(5);
        }
        send(number);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      refusal.compareAndSet(null, e);
    }
  }

  private void send(long number) {
    long key = stream.key(number);
    String json =
        "{\"ts\":"
            + stream.millis(number)
            + ",\"op\":\""
            + (SoakStream.isDelete(number) ? "delete" : "add")
            + "\",\"key\":\""
            + SoakStream.text(key)
            + "\"}";
    var unused =
        producer.send(
            new ProducerRecord<>(
                Pipeline.EVENTS,
                (int) (key % partitions),
                null,
                json.getBytes(StandardCharsets.US_ASCII)),
            (place, e) -> {
              if (e != null) {
                refusal.compareAndSet(null, e);
              }
            });
  }

  @Override
  public void close() {
    stopped = true;
    worker.join();
    producer.close(Duration.ZERO);
  }
}
