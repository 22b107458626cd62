package io.firstseen.embedded;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * Reads the committed records of topics from their beginning. Each call reads from the beginning,
 * without a consumer group.
 *
 * @param <K> type of the records' keys
 * @param <V> type of the records' values
 */
public final class TopicReader<K, V> {
  /** The maximum time that a read takes. */
  public static final Duration TIMEOUT = Duration.ofMinutes(1);

  private static final Duration POLL = Duration.ofMillis(200);
  private static final int FETCH_WAIT_MILLIS = 50;

  private final String bootstrapServers;
  private final Deserializer<K> keys;
  private final Deserializer<V> values;

  /** Creates a reader of the topics of these brokers. */
  public TopicReader(String bootstrapServers, Deserializer<K> keys, Deserializer<V> values) {
    this.bootstrapServers = bootstrapServers;
    this.keys = keys;
    this.values = values;
  }

  /**
   * Passes every committed record that is in the topic now to a consumer, in order within each
   * partition. Waits for open transactions, because a broker reports a commit before all readers
   * see it.
   *
   * @return the offset after the last record of every partition that has records; a partition's end
   *     offset is greater, after the marker of the last transaction
   * @throws UnknownTopicOrPartitionException if the topic does not exist
   * @throws TimeoutException if the end is not reached within {@link #TIMEOUT}
   */
  public Map<TopicPartition, Long> read(String topic, Consumer<ConsumerRecord<K, V>> action)
      throws TimeoutException {
    Map<TopicPartition, Long> afterLast = new HashMap<>();
    try (KafkaConsumer<K, V> consumer = consumer()) {
      List<TopicPartition> partitions = assign(consumer, topic);
      Map<TopicPartition, Long> ends = writtenEnds(partitions);
      long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
      while (!ends.entrySet().stream()
          .allMatch(end -> consumer.position(end.getKey()) >= end.getValue())) {
        if (System.nanoTime() - deadlineNanos > 0) {
          throw new TimeoutException(
              "%s was not read to its end within %s".formatted(topic, TIMEOUT));
        }
        for (ConsumerRecord<K, V> record : consumer.poll(POLL)) {
          action.accept(record);
          afterLast.put(
              new TopicPartition(record.topic(), record.partition()), record.offset() + 1);
        }
      }
    }
    return afterLast;
  }

  /**
   * Waits until a topic has a number of committed records.
   *
   * @return at least this number of records, in order within each partition
   * @throws UnknownTopicOrPartitionException if the topic does not exist
   * @throws TimeoutException if there are fewer records after {@link #TIMEOUT}
   */
  public List<ConsumerRecord<K, V>> await(String topic, int count) throws TimeoutException {
    List<ConsumerRecord<K, V>> records = new ArrayList<>();
    try (KafkaConsumer<K, V> consumer = consumer()) {
      assign(consumer, topic);
      long deadlineNanos = System.nanoTime() + TIMEOUT.toNanos();
      while (records.size() < count) {
        if (System.nanoTime() - deadlineNanos > 0) {
          throw new TimeoutException(
              "%s has %d committed records after %s, %d are wanted"
                  .formatted(topic, records.size(), TIMEOUT, count));
        }
        consumer.poll(POLL).forEach(records::add);
      }
    }
    return records;
  }

  private KafkaConsumer<K, V> consumer() {
    return new KafkaConsumer<>(
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
        keys,
        values);
  }

  private static List<TopicPartition> assign(KafkaConsumer<?, ?> consumer, String topic) {
    List<TopicPartition> partitions =
        consumer.partitionsFor(topic).stream()
            .map(partition -> new TopicPartition(topic, partition.partition()))
            .toList();
    if (partitions.isEmpty()) {
      throw new UnknownTopicOrPartitionException("there is no topic " + topic);
    }
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    return partitions;
  }

  /** Returns the end offsets of the partitions for readers that also see uncommitted records. */
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
