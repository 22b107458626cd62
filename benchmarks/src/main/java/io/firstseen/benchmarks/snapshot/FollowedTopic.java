package io.firstseen.benchmarks.snapshot;

import io.firstseen.benchmarks.compaction.TopicRecords;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.serializers.SnapshotRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A snapshots topic of two partitions, with a transaction for each window, and a consumer that
 * follows partition 0.
 */
final class FollowedTopic implements AutoCloseable {
  private static final int PARTITIONS = 2;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private final TopicPartition followed;
  private final Optional<SigningKey> signingKey;
  private final Admin admin;
  private final KafkaProducer<byte[], byte[]> producer;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private Counted before;

  /**
   * Bytes of partition 0.
   *
   * @param log of the log on the broker: whole batches with their headers, and commit markers
   * @param records of the records, uncompressed and without headers of batches, as the consumer's
   *     {@code bytes-consumed-total} counts them
   * @param received all that the consumer has received from the broker, with answers that held no
   *     record, as its {@code incoming-byte-total} counts them
   */
  record Counted(long log, long records, long received) {
    Counted plus(Counted other) {
      return new Counted(log + other.log, records + other.records, received + other.received);
    }

    private Counted minus(Counted other) {
      return new Counted(log - other.log, records - other.records, received - other.received);
    }
  }

  /**
   * Creates a topic.
   *
   * @param compression the topic's compression.type; "producer" for none
   * @param signingKey signs the manifests
   */
  FollowedTopic(
      EmbeddedBroker broker, String name, String compression, Optional<SigningKey> signingKey)
      throws Exception {
    this.signingKey = signingKey;
    followed = new TopicPartition(name, 0);
    broker.createTopics(
        List.of(
            new NewTopic(name, PARTITIONS, (short) 1)
                .configs(
                    Map.of(
                        TopicConfig.CLEANUP_POLICY_CONFIG,
                        TopicConfig.CLEANUP_POLICY_COMPACT,
                        TopicConfig.COMPRESSION_TYPE_CONFIG,
                        compression))));
    String servers = broker.bootstrapServers();
    admin = Admin.create(Map.of("bootstrap.servers", servers));
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", servers, ProducerConfig.TRANSACTIONAL_ID_CONFIG, name),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    producer.initTransactions();
    consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", servers, "isolation.level", "read_committed"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    consumer.assign(List.of(followed));
    consumer.seekToBeginning(List.of(followed));
    before = counted();
  }

  /** Writes the records of a window; returns the bytes when the consumer has read them. */
  Counted write(List<SnapshotRecord> records) throws Exception {
    producer.beginTransaction();
    Future<RecordMetadata> last = null;
    for (SnapshotRecord record : records) {
      for (ProducerRecord<byte[], byte[]> each :
          TopicRecords.of(followed.topic(), PARTITIONS, signed(record))) {
        Future<RecordMetadata> sent = producer.send(each);
        last = each.partition() == followed.partition() ? sent : last;
      }
    }
    producer.commitTransaction();
    // The commit marker follows the last record.
    await(last.get().offset() + 2);
    Counted now = counted();
    Counted grown = now.minus(before);
    before = now;
    return grown;
  }

  private SnapshotRecord signed(SnapshotRecord record) throws SnapshotException {
    if (record.kind() != SnapshotRecord.Kind.MANIFEST || signingKey.isEmpty()) {
      return record;
    }
    Manifest manifest = signingKey.get().sign(Manifest.read(record.value()));
    return new SnapshotRecord(record.kind(), record.key(), manifest.toBytes());
  }

  private void await(long position) {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (consumer.position(followed) < position) {
      consumer.poll(Duration.ofMillis(20));
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException(
            "the consumer is at offset "
                + consumer.position(followed)
                + " after a minute, it must reach "
                + position);
      }
    }
  }

  private Counted counted() throws Exception {
    long log =
        admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).values().stream()
            .flatMap(directory -> directory.replicaInfos().entrySet().stream())
            .filter(replica -> replica.getKey().equals(followed))
            .mapToLong(replica -> replica.getValue().size())
            .sum();
    return new Counted(
        log,
        metric("consumer-fetch-manager-metrics", "bytes-consumed-total"),
        metric("consumer-metrics", "incoming-byte-total"));
  }

  /** A metric of the consumer as a whole; 0 before its first record. */
  private long metric(String group, String name) {
    return consumer.metrics().entrySet().stream()
        .filter(
            metric ->
                metric.getKey().group().equals(group)
                    && metric.getKey().name().equals(name)
                    && metric.getKey().tags().keySet().equals(Set.of("client-id")))
        .mapToLong(metric -> ((Double) metric.getValue().metricValue()).longValue())
        .sum();
  }

  @Override
  public void close() {
    consumer.close();
    producer.close();
    admin.close();
  }
}
