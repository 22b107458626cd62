package io.firstseen.cli.demo;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads the committed records of a topic from its beginning to its current end. Transactions that
 * are under way there are waited for: a broker reports a commit before all readers see it.
 */
final class TopicReader {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final int FETCH_WAIT_MILLIS = 50;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private final String bootstrapServers;

  TopicReader(String bootstrapServers) {
    this.bootstrapServers = bootstrapServers;
  }

  /**
   * Hands over every record, in order within each partition.
   *
   * @return the offset after the last record of every partition that has records; a partition's end
   *     is further, after the marker of the last transaction
   * @throws TimeoutException if the end is not reached in time
   */
  Map<TopicPartition, Long> read(String topic, Consumer<ConsumerRecord<byte[], byte[]>> action)
      throws TimeoutException {
    Map<TopicPartition, Long> afterLast = new HashMap<>();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false,
                // Short, since each read waits for more records at the end of the topic.
                ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG,
                FETCH_WAIT_MILLIS),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(partition -> new TopicPartition(topic, partition.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = writtenEnds(partitions);
      long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
      while (!ends.entrySet().stream()
          .allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
        if (System.nanoTime() - deadlineNanos > 0) {
          throw new TimeoutException(
              "%s was not read to its end within %s".formatted(topic, TIMEOUT));
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          action.accept(record);
          afterLast.put(
              new TopicPartition(record.topic(), record.partition()), record.offset() + 1);
        }
      }
    }
    return afterLast;
  }

  /** Where the partitions end for readers that see uncommitted records too. */
  private Map<TopicPartition, Long> writtenEnds(List<TopicPartition> partitions) {
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      return consumer.endOffsets(partitions);
    }
  }
}
