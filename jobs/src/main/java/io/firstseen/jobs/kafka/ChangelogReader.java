package io.firstseen.jobs.kafka;

import io.firstseen.jobs.events.EventParser;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads an accepted topic once, from its beginning to the committed end at the time of the call.
 */
public final class ChangelogReader {
  private static final Duration PATIENCE = Duration.ofSeconds(12);
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration MAX_SILENCE = Duration.ofMinutes(1);

  private ChangelogReader() {}

  /**
   * Hands over every change, those of a partition in order; places are {@code
   * topic-partition@offset}. A record that cannot be a change becomes an event with a problem.
   *
   * @param clientProperties settings of the client, {@code bootstrap.servers} among them
   * @param maxAhead how far ahead of the clock a change may be
   * @throws UserErrorException if no broker answers, there is no such topic, it cannot be read, or
   *     it is not an accepted topic
   */
  public static void read(
      Properties clientProperties,
      String topic,
      Duration maxAhead,
      Consumer<SourceEvent> receiver) {
    Properties properties = new Properties();
    properties.putAll(clientProperties);
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, IsolationLevel.READ_COMMITTED.toString());
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    // If what comes next is deleted meanwhile, go on with the oldest that is there.
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.put(
        ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(PATIENCE.toMillis()));
    String servers = properties.getProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG);
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (PartitionInfo partition : consumer.partitionsFor(topic)) {
        partitions.add(new TopicPartition(topic, partition.partition()));
      }
      if (partitions.isEmpty()) {
        throw new UserErrorException("there is no topic %s at %s".formatted(topic, servers));
      }
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      EventParser parser = new EventParser(maxAhead, Clock.systemUTC());
      read(
          topic,
          consumer,
          consumer.endOffsets(partitions),
          new ChangelogDeserializer(parser),
          collector(receiver));
    } catch (TimeoutException e) {
      throw new UserErrorException("no Kafka broker answers at " + servers);
    } catch (KafkaException e) {
      throw new UserErrorException(
          "cannot read topic %s at %s: %s".formatted(topic, servers, deepestMessage(e)));
    }
  }

  private static void read(
      String topic,
      KafkaConsumer<byte[], byte[]> consumer,
      Map<TopicPartition, Long> ends,
      ChangelogDeserializer deserializer,
      Collector<SourceEvent> collector) {
    long lastNanos = System.nanoTime();
    // Compare positions: a partition may end in transaction markers, which yield no record.
    while (ends.entrySet().stream()
        .anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
      var records = consumer.poll(POLL);
      for (ConsumerRecord<byte[], byte[]> record : records) {
        if (record.offset() < ends.get(new TopicPartition(record.topic(), record.partition()))) {
          requireAccepted(record);
          deserializer.deserialize(record, collector);
        }
      }
      if (!records.isEmpty()) {
        lastNanos = System.nanoTime();
      } else if (System.nanoTime() - lastNanos > MAX_SILENCE.toNanos()) {
        throw new UserErrorException(
            "topic %s gave no record for %s before its end"
                .formatted(topic, OptionValues.write(MAX_SILENCE)));
      }
    }
  }

  /** Rejects a topic that is no accepted topic, by the headers of its records. */
  private static void requireAccepted(ConsumerRecord<byte[], byte[]> record) {
    Headers headers = record.headers();
    String found =
        headers.lastHeader(RecordHeaders.OUTCOME) != null
            ? "is a topic of duplicates"
            : headers.lastHeader(RecordHeaders.REASON) != null
                ? "is a topic of dead letters"
                : headers.lastHeader(RecordHeaders.TIMESTAMP) == null
                    ? "has a record without the header " + RecordHeaders.TIMESTAMP
                    : null;
    if (found != null) {
      throw new UserErrorException(
          "topic %s is not the accepted topic of a dedup: it %s (%s-%d@%d)"
              .formatted(
                  record.topic(), found, record.topic(), record.partition(), record.offset()));
    }
  }

  private static Collector<SourceEvent> collector(Consumer<SourceEvent> receiver) {
    return new Collector<>() {
      @Override
      public void collect(SourceEvent event) {
        receiver.accept(event);
      }

      @Override
      public void close() {
        // Nothing to release.
      }
    };
  }

  private static String deepestMessage(Throwable e) {
    Throwable deepest = e;
    while (deepest.getCause() != null) {
      deepest = deepest.getCause();
    }
    return deepest.getMessage();
  }
}
