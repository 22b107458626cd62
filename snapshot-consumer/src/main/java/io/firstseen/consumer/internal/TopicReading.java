package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Reads a topic from its beginning to its current end, any number of times. */
public final class TopicReading implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(200);

  private final String topic;
  private final Object servers;
  private final Duration timeout;
  private final long deadlineNanos;
  private final BiConsumer<Long, Long> progress;
  private final Consumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions = new ArrayList<>();

  /** Receives the records. */
  @FunctionalInterface
  public interface Records {
    /** Receives the next record; {@code value} is null for a tombstone. */
    void accept(String key, byte @Nullable [] value) throws SnapshotException;
  }

  /**
   * Opens a consumer.
   *
   * @param timeout the time limit for all operations of this object
   * @param progress receives, until the end is reached, the bytes read so far and the approximate
   *     number of remaining records
   */
  public TopicReading(
      String topic,
      Map<String, Object> consumerProperties,
      Duration timeout,
      BiConsumer<Long, Long> progress) {
    this(topic, consumerProperties, timeout, progress, TopicFollower.Connections.KAFKA);
  }

  TopicReading(
      String topic,
      Map<String, Object> consumerProperties,
      Duration timeout,
      BiConsumer<Long, Long> progress,
      TopicFollower.Connections connections) {
    Map<String, Object> properties = new HashMap<>(consumerProperties);
    properties.putAll(TopicFollower.followerProperties());
    this.topic = topic;
    this.servers = properties.get("bootstrap.servers");
    this.timeout = timeout;
    this.deadlineNanos = System.nanoTime() + TimeUnit.NANOSECONDS.convert(timeout);
    this.progress = progress;
    this.consumer = connections.consumer(properties);
  }

  private Duration left() throws TimeoutException {
    long leftNanos = deadlineNanos - System.nanoTime();
    if (leftNanos <= 0) {
      throw tooLong();
    }
    return Duration.ofNanos(leftNanos);
  }

  private TimeoutException tooLong() {
    return new TimeoutException(
        "topic '%s' of %s could not be read within %s s"
            .formatted(
                topic,
                servers,
                BigDecimal.valueOf(timeout.toMillis(), 3).stripTrailingZeros().toPlainString()));
  }

  /** Returns whether the topic exists. */
  public boolean exists() throws TimeoutException {
    try {
      List<PartitionInfo> infos = consumer.partitionsFor(topic, left());
      if (infos != null) {
        infos.forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
      }
      consumer.assign(partitions);
      return !partitions.isEmpty();
    } catch (org.apache.kafka.common.errors.TimeoutException e) {
      throw tooLong();
    }
  }

  /**
   * Reads the whole topic.
   *
   * @throws TimeoutException if the time limit is exceeded
   * @throws KafkaException if it cannot be read
   */
  public void readAll(Records records) throws TimeoutException, SnapshotException {
    consumer.seekToBeginning(partitions);
    long bytes = 0;
    try {
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, left());
      long recordsLeft = recordsLeft(ends);
      while (recordsLeft > 0) {
        Duration left = left();
        ConsumerRecords<byte[], byte[]> read =
            consumer.poll(left.compareTo(POLL) < 0 ? left : POLL);
        for (ConsumerRecord<byte[], byte[]> each : read) {
          bytes += each.value() == null ? 0 : each.value().length;
          String key = TopicFollower.keyOf(each);
          // Only manifests on partition 0 count.
          if (each.partition() == 0 || SnapshotTopicFormat.parseChunkKey(key).isPresent()) {
            records.accept(key, each.value());
          }
        }
        recordsLeft = recordsLeft(ends);
        progress.accept(bytes, recordsLeft);
      }
    } catch (org.apache.kafka.common.errors.TimeoutException e) {
      throw tooLong();
    }
  }

  private long recordsLeft(Map<TopicPartition, Long> ends) throws TimeoutException {
    long left = 0;
    for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
      left += Math.max(0, end.getValue() - consumer.position(end.getKey(), left()));
    }
    return left;
  }

  @Override
  public void close() {
    // Without this, closing would wait for the response to a fetch that is no longer needed.
    consumer.close(CloseOptions.timeout(Duration.ZERO));
  }
}
