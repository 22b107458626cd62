package io.firstseen.jobs.kafka;

import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.util.Properties;
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

/**
 * Reads the accepted topic, and fails the job if removals may be gone before they were read. Kafka
 * keeps the record of a removal for the topic's {@code delete.retention.ms}, and longer only by
 * chance; a topic that deletes by age keeps any record for its {@code retention.ms}. A job that
 * misses the removal of a key would keep the key for ever.
 */
final class AcceptedSource
    implements Source<SourceEvent, KafkaPartitionSplit, KafkaSourceEnumState>,
        ResultTypeQueryable<SourceEvent> {
  private static final long serialVersionUID = 1;

  private final KafkaSource<SourceEvent> connector;
  private final String topic;
  private final Properties clientProperties;
  private final Duration retention;

  /**
   * Adds the check to a source.
   *
   * @param topic the accepted topic; state of another topic fails the job
   * @param retention for how long the topic keeps what is unread
   */
  AcceptedSource(
      KafkaSource<SourceEvent> connector,
      String topic,
      Properties clientProperties,
      Duration retention) {
    this.connector = connector;
    this.topic = topic;
    this.clientProperties = clientProperties;
    this.retention = retention;
  }

  @Override
  public SourceReader<SourceEvent, KafkaPartitionSplit> createReader(SourceReaderContext context)
      throws Exception {
    return new AcceptedReader(
        connector.createReader(context),
        topic,
        retention,
        new PartitionEnds(clientProperties),
        Clock.systemUTC());
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
