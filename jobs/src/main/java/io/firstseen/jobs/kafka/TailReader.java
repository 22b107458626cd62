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
  /** The longest time that a broker may take to answer. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** The longest time without progress. */
  private static final Duration MAX_SILENCE = Duration.ofMinutes(1);

  /** The longest wait for the partitions of the topic, which is the first request of a reader. */
  private static final Duration METADATA_PATIENCE = Duration.ofSeconds(12);

  private static final Duration POLL = Duration.ofMillis(200);

  private final String topic;
  private final Consumer<byte[], byte[]> consumer;

  /** Connects to the brokers; reads no partition yet. */
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

  /**
   * Reads a topic outside of a running job, where no restart follows a failure.
   *
   * @throws UserErrorException if the topic cannot be read
   */
  static <T> T outsideOfJob(Properties clientProperties, String topic, Supplier<T> read) {
    try {
      return read.get();
    } catch (KafkaException e) {
      Throwable reason = e;
      while (reason.getCause() != null) {
        reason = reason.getCause();
      }
      throw new UserErrorException(
          "cannot read topic %s at %s: %s"
              .formatted(
                  topic,
                  clientProperties.getProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG),
                  reason.getMessage()));
    }
  }

  /**
   * Returns the partitions of the topic; none if there is no such topic.
   *
   * @throws TimeoutException if no broker answers
   */
  List<TopicPartition> partitions() {
    try {
      return consumer.partitionsFor(topic, METADATA_PATIENCE).stream()
          .map(each -> new TopicPartition(topic, each.partition()))
          .toList();
    } catch (TimeoutException e) {
      throw new TimeoutException(
          "no Kafka broker answers (waited %s)".formatted(OptionValues.write(METADATA_PATIENCE)));
    }
  }

  /** Reads these partitions from now on, from their beginning. */
  void startAt(Collection<TopicPartition> partitions) {
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /** Reads only these of the partitions from now on, from where their last read ended. */
  void keep(Collection<TopicPartition> partitions) {
    consumer.assign(partitions);
  }

  /** Returns the partitions that are read. */
  Set<TopicPartition> assigned() {
    return consumer.assignment();
  }

  /**
   * Returns the offset where each partition ends now, exclusive, as the isolation level shows it.
   *
   * @throws KafkaException if a broker does not answer for {@link #PATIENCE}
   */
  Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
    try {
      return consumer.endOffsets(partitions, PATIENCE);
    } catch (KafkaException e) {
      throw cannotRead(e);
    }
  }

  /**
   * Reads each assigned partition to the end that it has now.
   *
   * @throws KafkaException if the topic cannot be read, or a read makes no progress for {@link
   *     #MAX_SILENCE}
   */
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
              "nothing came for %s, %d offsets before its end"
                  .formatted(OptionValues.write(MAX_SILENCE), left(ends))));
    }
  }

  /**
   * Reads until a condition holds or the ends are reached.
   *
   * @param patience the longest time without progress
   * @return whether the condition holds or the ends are reached; false if a read made no progress,
   *     for example because a transaction stays open
   * @throws KafkaException if the topic cannot be read
   */
  boolean readUntil(
      BooleanSupplier condition,
      Map<TopicPartition, Long> ends,
      Duration patience,
      java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> receiver) {
    try {
      long lastNanos = System.nanoTime();
      long left = left(ends);
      while (left > 0 && !condition.getAsBoolean()) {
        if (System.nanoTime() - lastNanos > patience.toNanos()) {
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

  /** Returns how many offsets are left to read. */
  private long left(Map<TopicPartition, Long> ends) {
    long left = 0;
    for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
      left += Math.max(0, end.getValue() - consumer.position(end.getKey(), PATIENCE));
    }
    return left;
  }

  @Override
  public void close() {
    // Without this, it would wait for the answer to a fetch that nobody reads.
    consumer.close(CloseOptions.timeout(Duration.ZERO));
  }
}
