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
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

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
            AcceptedTopic.requireAccepted(record);
            deserializer.deserialize(record, collector);
          }
        });
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
