package io.firstseen.jobs.kafka;

import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads topics to a known end, without a consumer group. */
final class TailReader {
  static final Duration PATIENCE = Duration.ofSeconds(30);
  static final Duration POLL = Duration.ofMillis(200);

  private TailReader() {}

  /** A consumer without a group, which commits nothing. */
  static Consumer<byte[], byte[]> consumer(Properties clientProperties, IsolationLevel isolation) {
    Properties properties = new Properties();
    properties.putAll(clientProperties);
    properties.setProperty(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
    properties.setProperty(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.setProperty(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    // Of a topic that was made anew, too, nothing is passed over.
    properties.setProperty(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
    return new KafkaConsumer<>(
        properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /**
   * Reads on until each assigned partition is read to its end.
   *
   * @param topic for messages
   * @param ends the offset where each partition ends, exclusive
   * @param take takes each record
   * @throws KafkaException if the topic cannot be read, or nothing comes for {@link #PATIENCE}
   */
  static void readTo(
      Consumer<byte[], byte[]> consumer,
      String topic,
      Map<TopicPartition, Long> ends,
      java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> take) {
    try {
      long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
      long left = left(consumer, ends);
      while (left > 0) {
        consumer.poll(POLL).forEach(take);
        long before = left;
        left = left(consumer, ends);
        if (left < before) {
          deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
        } else if (System.nanoTime() > deadlineNanos) {
          throw new TimeoutException(
              "nothing came for %d s, %d offsets before its end"
                  .formatted(PATIENCE.toSeconds(), left));
        }
      }
    } catch (KafkaException e) {
      throw new KafkaException("cannot read topic %s to its end".formatted(topic), e);
    }
  }

  /** What the user is told of a failed read. */
  static UserErrorException cannotRead(String topic, KafkaException e) {
    Throwable reason = e;
    while (reason.getCause() != null) {
      reason = reason.getCause();
    }
    return new UserErrorException("cannot read topic %s: %s".formatted(topic, reason.getMessage()));
  }

  /** How many offsets are left to read. */
  private static long left(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) {
    long left = 0;
    for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
      left += Math.max(0, end.getValue() - consumer.position(end.getKey(), PATIENCE));
    }
    return left;
  }
}
