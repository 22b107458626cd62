package io.firstseen.jobs.kafka;

import io.firstseen.events.EventParser;
import io.firstseen.events.FieldParser;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

/** Sources that read committed records from topics. */
public final class KafkaSources {

  private KafkaSources() {}

  /**
   * Reads events. The job fails if it resumes from state whose topics or offsets were deleted.
   *
   * @param maxAhead the maximum time by which an event may be ahead of the system clock
   */
  public static Source<SourceEvent, ?, ?> events(KafkaOptions options, Duration maxAhead) {
    Clock clock = Clock.systemUTC();
    FieldParser fields =
        options
            .events()
            .fields()
            .map(named -> FieldParser.of(named, options.events().schema(), maxAhead, clock))
            .orElse(null);
    return new CheckedSource(
        source(
            options,
            builder ->
                options
                    .events()
                    .topicPattern()
                    .map(builder::setTopicPattern)
                    .orElseGet(() -> builder.setTopics(options.events().topics())),
            options.transactionalIdPrefix(options.topics().outputTopic()),
            new EventDeserializer(
                options.events().format(),
                new EventParser(maxAhead, clock),
                fields,
                options.topics().output().hasRecords(),
                options.events().isScopeFromTopic())),
        settings(options),
        null);
  }

  /**
   * Reads changes from the accepted topic. The job fails if it resumes from state that is older
   * than the tombstones that the topic keeps.
   *
   * @param maxAhead the maximum time by which a change may be ahead of the system clock
   * @param retention the time for which the topic keeps unread records
   */
  public static Source<SourceEvent, ?, ?> acceptedChangelog(
      KafkaOptions options, Duration maxAhead, Duration retention) {
    String topic = options.topics().acceptedTopic();
    ChangelogDeserializer deserializer =
        new ChangelogDeserializer(new EventParser(maxAhead, Clock.systemUTC()));
    return new CheckedSource(
        source(
            options,
            builder -> builder.setTopics(topic),
            options.transactionalIdPrefix(options.topics().snapshotsTopic()),
            deserializer),
        settings(options),
        new CheckedSource.Accepted(topic, retention, deserializer));
  }

  private static InputTopics.Settings settings(KafkaOptions options) {
    return new InputTopics.Settings(
        options.clientProperties(), options.acceptNewTopic(), options.allowSkippedOffsets());
  }

  private static KafkaSource<SourceEvent> source(
      KafkaOptions options,
      UnaryOperator<KafkaSourceBuilder<SourceEvent>> topics,
      String group,
      KafkaRecordDeserializationSchema<SourceEvent> deserializer) {
    KafkaSourceBuilder<SourceEvent> builder =
        topics
            .apply(KafkaSource.builder())
            .setProperties(options.clientProperties())
            .setGroupId(group)
            .setClientIdPrefix(group)
            .setProperty(
                ConsumerConfig.ISOLATION_LEVEL_CONFIG, IsolationLevel.READ_COMMITTED.toString())
            .setStartingOffsets(new StartOffsets(options.events().start()))
            .setDeserializer(deserializer);
    options
        .stopOffsets()
        .ifPresent(offsets -> builder.setBounded(OffsetsInitializer.offsets(offsets)));
    return builder.build();
  }

  /**
   * The start offsets without state, as numbers. With the connector's own {@code latest} and {@code
   * committedOffsets}, the readers resolve the offsets. They resolve the offset of a partition
   * without records again, and skip records, whenever a job resumes from state.
   *
   * <p>If an offset is deleted later, the job restarts and then fails, see {@link InputTopics}.
   */
  // The connector's interface still requires the deprecated enum.
  @SuppressWarnings("deprecation")
  record StartOffsets(KafkaOptions.Start start) implements OffsetsInitializer {
    @Override
    public Map<TopicPartition, Long> getPartitionOffsets(
        Collection<TopicPartition> partitions, PartitionOffsetsRetriever retriever) {
      return switch (start) {
        case EARLIEST -> OffsetsInitializer.earliest().getPartitionOffsets(partitions, retriever);
        case LATEST -> retriever.endOffsets(partitions);
        case COMMITTED ->
            OffsetsInitializer.offsets(Map.of(), OffsetResetStrategy.EARLIEST)
                .getPartitionOffsets(partitions, retriever);
      };
    }

    @Override
    public OffsetResetStrategy getAutoOffsetResetStrategy() {
      return OffsetResetStrategy.NONE;
    }
  }
}
