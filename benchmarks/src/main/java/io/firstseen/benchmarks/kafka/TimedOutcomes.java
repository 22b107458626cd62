package io.firstseen.benchmarks.kafka;

import io.firstseen.jobs.kafka.RecordHeaders;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a job's committed outcomes while they appear, and how long each took since its event. */
final class TimedOutcomes implements AutoCloseable {
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration TIMEOUT = Duration.ofMinutes(10);
  private static final int MOST_MILLIS = (int) TIMEOUT.toMillis();

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final String acceptedTopic;
  private final NavigableMap<Long, Integer> recordsAtMillis = new TreeMap<>();
  private final int[] countsByMillis = new int[MOST_MILLIS + 1];
  private long accepted;
  private long duplicates;

  /** Reads the topics of a job that has created them. */
  TimedOutcomes(KafkaOptions kafka) {
    acceptedTopic = kafka.topics().acceptedTopic();
    consumer =
        new KafkaConsumer<>(
            Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                kafka.clientProperties().getProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG),
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed",
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                10_000),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    List<TopicPartition> partitions =
        Stream.of(acceptedTopic, kafka.topics().duplicatesTopic())
            .flatMap(topic -> consumer.partitionsFor(topic).stream())
            .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
            .toList();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
  }

  /**
   * Reads until there are as many outcomes since the beginning.
   *
   * @throws TimeoutException if no outcome appears for minutes
   */
  void readUntil(long outcomes) throws TimeoutException {
    long lastNanos = System.nanoTime();
    while (accepted + duplicates < outcomes) {
      var records = consumer.poll(POLL);
      long nowMillis = System.currentTimeMillis();
      records.forEach(record -> add(record, nowMillis));
      if (!records.isEmpty()) {
        lastNanos = System.nanoTime();
      } else if (System.nanoTime() - lastNanos > TIMEOUT.toNanos()) {
        throw new TimeoutException(
            "%,d of %,d outcomes appeared".formatted(accepted + duplicates, outcomes));
      }
    }
  }

  private void add(ConsumerRecord<byte[], byte[]> record, long nowMillis) {
    if (record.topic().equals(acceptedTopic)) {
      accepted++;
    } else {
      duplicates++;
    }
    recordsAtMillis.merge(record.timestamp(), 1, Integer::sum);
    long eventMillis =
        ByteBuffer.wrap(record.headers().lastHeader(RecordHeaders.TIMESTAMP).value()).getLong();
    countsByMillis[(int) Math.max(0, Math.min(MOST_MILLIS, nowMillis - eventMillis))]++;
  }

  /** Returns the number of outcomes per second that the job wrote, after the first half. */
  double steadyRate() {
    CommittedOutput.Steady steady =
        new CommittedOutput(accepted, duplicates, recordsAtMillis).steady();
    return 1e3 * steady.share() * outcomes() / (steady.toMillis() - steady.fromMillis());
  }

  void forgetTimes() {
    Arrays.fill(countsByMillis, 0);
  }

  /** Returns the seconds that a share of the outcomes did not exceed. */
  double quantile(double share) {
    long all = Arrays.stream(countsByMillis).asLongStream().sum();
    long below = 0;
    int millis = -1;
    while (below < share * all) {
      below += countsByMillis[++millis];
    }
    return millis / 1e3;
  }

  long accepted() {
    return accepted;
  }

  long outcomes() {
    return accepted + duplicates;
  }

  @Override
  public void close() {
    consumer.close();
  }
}
