package io.firstseen.benchmarks.kafka;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.benchmarks.shared.Url;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The events of a topic, in the order in which they were written. Of every two, the first has a new
 * key and the second repeats an earlier one, drawn evenly. Keys are URLs of {@value Url#BYTES}
 * bytes in canonical form.
 *
 * @param format how an event is written
 * @param partitions of the topic, which take turns by pairs of events
 * @param count the number of events, even
 */
record Events(EventFormat format, int partitions, int count) {
  static final String TOPIC = "events";

  private static final long SEED = 20261126;
  private static final long FIRST_MILLIS = 1_760_000_000_000L;
  static final byte[] PAYLOAD = "{\"source\":\"crawler-7\",\"status\":200}".getBytes(US_ASCII);

  Events {
    if (count < 2 || count % 2 != 0) {
      throw new IllegalArgumentException("events must be an even number from 2 on, got " + count);
    }
  }

  int keys() {
    return count / 2;
  }

  Events first(int fewer) {
    return new Events(format, partitions, fewer);
  }

  /** The offset where each partition ends, exclusive. */
  Map<TopicPartition, Long> ends() {
    Map<TopicPartition, Long> ends = new HashMap<>();
    for (int partition = 0; partition < partitions; partition++) {
      int pairs = (keys() + partitions - 1 - partition) / partitions;
      ends.put(new TopicPartition(TOPIC, partition), 2L * pairs);
    }
    return ends;
  }

  /**
   * Writes them to the topic, which must exist.
   *
   * @throws KafkaException if the broker rejects an event
   */
  void write(String bootstrapServers) {
    AtomicReference<Exception> refusal = new AtomicReference<>();
    SplittableRandom random = new SplittableRandom(SEED);
    try (KafkaProducer<byte[], byte[]> producer = producer(bootstrapServers, 20, 1 << 18)) {
      for (int i = 0; i < count && refusal.get() == null; i++) {
        int key = i % 2 == 0 ? i / 2 : random.nextInt(i / 2 + 1);
        var unused =
            producer.send(
                record(i, key),
                (place, e) -> {
                  if (e != null) {
                    refusal.compareAndSet(null, e);
                  }
                });
      }
      producer.flush();
    }
    if (refusal.get() != null) {
      throw new KafkaException("an event was not taken: " + refusal.get().getMessage());
    }
  }

  static KafkaProducer<byte[], byte[]> producer(
      String bootstrapServers, int lingerMillis, int batchBytes) {
    return new KafkaProducer<>(
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrapServers,
            ProducerConfig.LINGER_MS_CONFIG,
            lingerMillis,
            ProducerConfig.BATCH_SIZE_CONFIG,
            batchBytes),
        new ByteArraySerializer(),
        new ByteArraySerializer());
  }

  private ProducerRecord<byte[], byte[]> record(int i, int key) {
    int partition = i / 2 % partitions;
    long millis = FIRST_MILLIS + i;
    Url url = Url.of(key);
    if (format == EventFormat.KEY) {
      return new ProducerRecord<>(TOPIC, partition, millis, url.utf8(), PAYLOAD, List.of());
    }
    String json = "{\"ts\":" + millis + ",\"op\":\"add\",\"key\":\"" + url + "\"}";
    return new ProducerRecord<>(TOPIC, partition, null, json.getBytes(US_ASCII));
  }
}
