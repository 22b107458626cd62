package io.firstseen.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads what the pipeline commits, all the time, and holds it against the model. */
final class Watcher extends Worker {
  /** Keys with this prefix are not events of the model. */
  static final String CLOSING_PREFIX = "closing-";

  private final long baseMillis;
  private final OutputCheck output;
  private final ManifestCheck manifests;
  private final IntSupplier produced;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private long lastOutcomeNanos;
  private volatile double longestGapSeconds;

  /** A watcher that starts at once; the topics must be there. */
  Watcher(
      String brokers,
      long baseMillis,
      OutputCheck output,
      ManifestCheck manifests,
      IntSupplier produced) {
    super("watcher");
    this.baseMillis = baseMillis;
    this.output = output;
    this.manifests = manifests;
    this.produced = produced;
    this.consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                brokers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false,
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                10_000),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    List<TopicPartition> partitions =
        Stream.of(Pipeline.ACCEPTED, Pipeline.DUPLICATES, Pipeline.DEAD_LETTERS, Pipeline.SNAPSHOTS)
            .flatMap(topic -> consumer.partitionsFor(topic).stream())
            .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    start();
  }

  /** The longest time without a committed outcome, in seconds, since the last call. */
  double takeLongestGapSeconds() {
    double seconds = longestGapSeconds;
    longestGapSeconds = 0;
    return seconds;
  }

  @Override
  void step() throws SnapshotException {
    boolean hasOutcome = false;
    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(50))) {
      String key = record.key() == null ? null : new String(record.key(), US_ASCII);
      if (!record.topic().equals(Pipeline.SNAPSHOTS)) {
        hasOutcome = true;
        outcome(key, record);
      } else if (record.value() != null && Pipeline.SET.equals(key)) {
        manifests.accept(Manifest.read(record.value()), produced.getAsInt());
      }
    }
    if (hasOutcome) {
      long now = System.nanoTime();
      if (lastOutcomeNanos != 0) {
        longestGapSeconds = Math.max(longestGapSeconds, (now - lastOutcomeNanos) / 1e9);
      }
      lastOutcomeNanos = now;
    }
  }

  private void outcome(@Nullable String key, ConsumerRecord<byte[], byte[]> record) {
    if (key != null && key.startsWith(CLOSING_PREFIX)) {
      return;
    }
    Header time = record.headers().lastHeader("firstseen.timestamp");
    long number = time == null ? -1 : ByteBuffer.wrap(time.value()).getLong() - baseMillis;
    output.accept(
        record.topic(),
        record.topic() + "-" + record.partition() + "@" + record.offset(),
        key,
        record.value() != null,
        number);
  }

  @Override
  public void close() {
    super.close();
    consumer.close();
  }
}
