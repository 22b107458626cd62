package io.firstseen.jobs.kafka;

import io.firstseen.serializers.SourceEvent;
import java.io.Serializable;
import java.time.Clock;
import java.time.Duration;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads topics, and fails the job if the topics were recreated since the state was written, or if
 * Kafka deleted records before they were read. If the source reads the accepted topic, the job also
 * fails if unread tombstones may have been deleted: Kafka is only guaranteed to keep a tombstone
 * for the topic's {@code delete.retention.ms}, and a topic that deletes by age keeps any record for
 * its {@code retention.ms}. A job that misses the tombstone of a key would keep the key forever.
 *
 * @param accepted the accepted topic; null for topics of events
 */
record CheckedSource(
    KafkaSource<SourceEvent> connector, InputTopics.Settings settings, @Nullable Accepted accepted)
    implements Source<SourceEvent, KafkaPartitionSplit, KafkaSourceEnumState>,
        ResultTypeQueryable<SourceEvent> {
  /** The accepted topic, its retention of unread records, and the connector's deserializer. */
  record Accepted(String topic, Duration retention, ChangelogDeserializer deserializer)
      implements Serializable {}

  @Override
  public SourceReader<SourceEvent, KafkaPartitionSplit> createReader(SourceReaderContext context)
      throws Exception {
    InputTopics topics = new InputTopics(settings, context.metricGroup().counter("skippedOffsets"));
    SourceReader<SourceEvent, KafkaPartitionSplit> kafka = connector.createReader(context);
    if (accepted == null) {
      return new CheckedReader(kafka, topics);
    }
    AcceptedReader reader =
        new AcceptedReader(kafka, accepted.topic, accepted.retention, topics, Clock.systemUTC());
    accepted.deserializer.reportTo(reader);
    return reader;
  }

  @Override
  public SimpleVersionedSerializer<KafkaPartitionSplit> getSplitSerializer() {
    return new TimedSplit.Serializer(connector.getSplitSerializer());
  }

  @Override
  public Boundedness getBoundedness() {
    return connector.getBoundedness();
  }

  @Override
  public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> createEnumerator(
      SplitEnumeratorContext<KafkaPartitionSplit> context) {
    return connector.createEnumerator(context);
  }

  @Override
  public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> restoreEnumerator(
      SplitEnumeratorContext<KafkaPartitionSplit> context, KafkaSourceEnumState state)
      throws Exception {
    return connector.restoreEnumerator(context, state);
  }

  @Override
  public SimpleVersionedSerializer<KafkaSourceEnumState> getEnumeratorCheckpointSerializer() {
    return connector.getEnumeratorCheckpointSerializer();
  }

  @Override
  public TypeInformation<SourceEvent> getProducedType() {
    return connector.getProducedType();
  }
}
