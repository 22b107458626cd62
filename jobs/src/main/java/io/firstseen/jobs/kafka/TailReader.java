package io.firstseen.jobs.kafka;

import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads partitions of a topic to a known end, without a consumer group. Each read continues where
 * the previous read ended.
 */
final class TailReader implements AutoCloseable {
  // The maximum response time of a broker.
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  // The maximum time without progress.
  private static final Duration MAX_SILENCE = Duration.ofMinutes(1);
  // The timeout for the partitions of the topic, which is the first request of a reader.
  private static final Duration METADATA_TIMEOUT = Duration.ofSeconds(12);
  private static final Duration POLL = Duration.ofMillis(200);

  private final String topic;
  private final Consumer<byte[], byte[]> consumer;

  /** Connects to the brokers without reading a partition. */
  TailReader(Properties clientProperties, IsolationLevel isolation, String topic) {
    this(consumer(clientProperties, isolation), topic);
  }

  TailReader(Consumer<byte[], byte[]> consumer, String topic) {
    this.consumer = consumer;
    this.topic = topic;
  }

  private static Consumer<byte[], byte[]> consumer(
      Properties clientProperties, IsolationLevel isolation) {
    Properties properties = new Properties();
    properties.putAll(clientProperties);
    properties.setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
    properties.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.setProperty(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    // If the next record is deleted meanwhile, or the topic is created again, continue with the
    // oldest record.
    properties.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
    return new KafkaConsumer<>(
        properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** Reads a topic outside of a running job, where no restart follows a failure. */
  static <T> T outsideOfJob(Properties clientProperties, String topic, Supplier<T> read) {
    try {
      return read.get();
    } catch (KafkaException e) {
      throw new UserErrorException(
          "cannot read topic %s at %s: %s"
              .formatted(
                  topic,
                  clientProperties.getProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG),
                  Brokers.deepestMessage(e)));
    }
  }

  /** The partitions of the topic; empty if it does not exist. */
  List<TopicPartition> partitions() {
    try {
      return consumer.partitionsFor(topic, METADATA_TIMEOUT).stream()
          .map(each -> new TopicPartition(topic, each.partition()))
          .toList();
    } catch (TimeoutException e) {
      throw new TimeoutException(
          "no Kafka broker responds (waited %s)".formatted(OptionValues.write(METADATA_TIMEOUT)));
    }
  }

  void startAt(Collection<TopicPartition> partitions) {
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** Restricts the assignment to these partitions; reads continue where the previous read ended. */
  void keep(Collection<TopicPartition> partitions) {
    consumer.assign(partitions);
  }

  Set<TopicPartition> assigned() {
    return consumer.assignment();
  }

  /** The end offset of each partition, exclusive, under the isolation level. */
  Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
    try {
      return consumer.endOffsets(partitions, TIMEOUT);
    } catch (KafkaException e) {
      throw cannotRead(e);
    }
  }

  /** Reads each assigned partition to its current end; fails after {@link #MAX_SILENCE}. */
  void readToEnd(java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> receiver) {
    readTo(ends(assigned()), receiver);
  }

  /** Reads to these ends, otherwise like {@link #readToEnd}. */
  void readTo(
      Map<TopicPartition, Long> ends,
      java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> receiver) {
    if (!readUntil(() -> false, ends, MAX_SILENCE, receiver)) {
      throw cannotRead(
          new TimeoutException(
              "no records arrived for %s, %d offsets before its end"
                  .formatted(OptionValues.write(MAX_SILENCE), left(ends))));
    }
  }

  /**
   * Reads until a condition holds or the ends are reached. Returns false if there is no progress
   * within the timeout, for example because a transaction stays open.
   */
  boolean readUntil(
      BooleanSupplier condition,
      Map<TopicPartition, Long> ends,
      Duration timeout,
      java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> receiver) {
    try {
      long lastNanos = System.nanoTime();
      long left = left(ends);
      while (left > 0 && !condition.getAsBoolean()) {
        if (System.nanoTime() - lastNanos > timeout.toNanos()) {
          return false;
        }
        consumer.poll(POLL).forEach(receiver);
        long before = left;
        // Compare positions: a partition may end in transaction markers, which yield no record.
        left = left(ends);
        if (left < before) {
          lastNanos = System.nanoTime();
        }
      }
      return true;
    } catch (KafkaException e) {
      throw cannotRead(e);
    }
  }

  private KafkaException cannotRead(KafkaException e) {
    return new KafkaException("cannot read topic %s to its end".formatted(topic), e);
  }

  private long left(Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .mapToLong(end -> Math.max(0, end.getValue() - consumer.position(end.getKey(), TIMEOUT)))
        .sum();
  }

  @Override
  public void close() {
    // Without the wakeup, close would wait for the response to a fetch that is no longer needed.
    consumer.close(CloseOptions.timeout(Duration.ZERO));
  }
}
