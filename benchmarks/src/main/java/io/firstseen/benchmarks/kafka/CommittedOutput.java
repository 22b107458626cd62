package io.firstseen.benchmarks.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * What a job has written, as readers of committed records see it.
 *
 * @param accepted the records of the accepted topic
 * @param duplicates the records of the duplicates topic
 * @param recordsAtMillis how many records were handed to a producer, by the millisecond
 */
record CommittedOutput(
    long accepted, long duplicates, NavigableMap<Long, Integer> recordsAtMillis) {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /**
   * Reads both topics to their ends. Transactions that are open there are waited for.
   *
   * @throws TimeoutException if one stays open
   */
  static CommittedOutput read(String bootstrapServers, String accepted, String duplicates)
      throws TimeoutException {
    long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
    Map<String, Long> records = new HashMap<>(Map.of(accepted, 0L, duplicates, 0L));
    NavigableMap<Long, Integer> recordsAtMillis = new TreeMap<>();
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrapServers, "read_committed")) {
      List<TopicPartition> partitions =
          records.keySet().stream()
              .flatMap(topic -> consumer.partitionsFor(topic).stream())
              .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = writtenEnds(bootstrapServers, partitions);
      while (!ends.entrySet().stream()
          .allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
        if (System.nanoTime() - deadlineNanos > 0) {
          throw new TimeoutException("the job's output was not committed within " + PATIENCE);
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          records.merge(record.topic(), 1L, Long::sum);
          recordsAtMillis.merge(record.timestamp(), 1, Integer::sum);
        }
      }
    }
    return new CommittedOutput(records.get(accepted), records.get(duplicates), recordsAtMillis);
  }

  /**
   * The steady part of a run: what it wrote after its first half.
   *
   * @param fromMillis when it began
   * @param toMillis when the last record was handed to a producer
   * @param share of all records
   */
  record Steady(long fromMillis, long toMillis, double share) {}

  Steady steady() {
    long all = accepted + duplicates;
    long before = 0;
    for (Map.Entry<Long, Integer> atMillis : recordsAtMillis.entrySet()) {
      before += atMillis.getValue();
      if (2 * before >= all) {
        return new Steady(
            atMillis.getKey(), recordsAtMillis.lastKey(), (double) (all - before) / all);
      }
    }
    throw new IllegalStateException("the job has written nothing");
  }

  /** Where the partitions end for readers that see uncommitted records, too. */
  private static Map<TopicPartition, Long> writtenEnds(
      String bootstrapServers, Collection<TopicPartition> partitions) {
    try (KafkaConsumer<byte[], byte[]> consumer = consumer(bootstrapServers, "read_uncommitted")) {
      return consumer.endOffsets(partitions);
    }
  }

  private static KafkaConsumer<byte[], byte[]> consumer(String bootstrapServers, String isolation) {
    return new KafkaConsumer<>(
        Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrapServers,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            isolation,
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            false),
        new ByteArrayDeserializer(),
        new ByteArrayDeserializer());
  }
}
