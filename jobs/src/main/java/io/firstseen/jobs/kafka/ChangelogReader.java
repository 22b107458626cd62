package io.firstseen.jobs.kafka;

import io.firstseen.jobs.events.EventParser;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;

/**
 * Reads an accepted topic once, from its beginning to the committed end at the time of the call.
 */
public final class ChangelogReader {
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
    TailReader.outsideOfJob(
        clientProperties,
        topic,
        () -> {
          try (TailReader reader =
              new TailReader(clientProperties, IsolationLevel.READ_COMMITTED, topic)) {
            read(reader, topic, clientProperties, maxAhead, receiver);
            return null;
          }
        });
  }

  private static void read(
      TailReader reader,
      String topic,
      Properties clientProperties,
      Duration maxAhead,
      Consumer<SourceEvent> receiver) {
    List<TopicPartition> partitions = reader.partitions();
    if (partitions.isEmpty()) {
      throw new UserErrorException(
          "there is no topic %s at %s"
              .formatted(
                  topic, clientProperties.getProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG)));
    }
    reader.startAt(partitions);
    ChangelogDeserializer deserializer =
        new ChangelogDeserializer(new EventParser(maxAhead, Clock.systemUTC()));
    Collector<SourceEvent> collector = collector(receiver);
    Map<TopicPartition, Long> ends = reader.ends(partitions);
    reader.readTo(
        ends,
        record -> {
          if (record.offset() < ends.get(new TopicPartition(topic, record.partition()))) {
            requireAccepted(record);
            deserializer.deserialize(record, collector);
          }
        });
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
}
