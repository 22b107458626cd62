package io.firstseen.jobs.kafka;

import io.firstseen.events.EventParser;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** Reads an accepted topic once, from its start to the committed end at the time of the call. */
public final class ChangelogReader {
  private ChangelogReader() {}

  /**
   * Passes every change to a consumer, the changes of a partition in order; places are {@code
   * topic-partition@offset}. A record that is not a valid change becomes an event with a problem.
   *
   * @param clientProperties settings of the client, including {@code bootstrap.servers}
   * @param maxAhead the maximum time by which a change may be ahead of the system clock
   * @throws UserErrorException if no broker responds, or if the topic does not exist, cannot be
   *     read, or is not an accepted topic
   */
  public static void read(
      Properties clientProperties,
      String topic,
      Duration maxAhead,
      Consumer<SourceEvent> receiver) {
    ChangelogDeserializer deserializer =
        new ChangelogDeserializer(new EventParser(maxAhead, Clock.systemUTC()));
    TailReader.outsideOfJob(
        clientProperties,
        topic,
        () -> {
          try (TailReader reader =
              new TailReader(clientProperties, IsolationLevel.READ_COMMITTED, topic)) {
            List<TopicPartition> partitions = reader.partitions();
            if (partitions.isEmpty()) {
              String servers =
                  clientProperties.getProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG);
              throw new UserErrorException(
                  "topic %s does not exist at %s".formatted(topic, servers));
            }
            reader.startAt(partitions);
            Map<TopicPartition, Long> ends = reader.ends(partitions);
            reader.readTo(
                ends,
                record -> {
                  if (record.offset() < ends.get(new TopicPartition(topic, record.partition()))) {
                    ChangelogDeserializer.requireAccepted(record);
                    receiver.accept(deserializer.parse(record));
                  }
                });
            return null;
          }
        });
  }
}
