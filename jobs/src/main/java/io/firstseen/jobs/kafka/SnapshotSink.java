package io.firstseen.jobs.kafka;

import io.firstseen.jobs.shared.OperatorUids;
import io.firstseen.jobs.shared.SingleTask;
import io.firstseen.serializers.SnapshotRecord;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.streaming.api.connector.sink2.SupportsPreWriteTopology;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.function.SerializableFunction;

/**
 * A Kafka sink of {@link SnapshotRecords}, after an operator that ensures that only one job
 * publishes the set.
 */
final class SnapshotSink extends DeferredKafkaSink<SnapshotRecord, SnapshotRecords.Part>
    implements SupportsPreWriteTopology<SnapshotRecord>, SingleTask {
  private static final long serialVersionUID = 1;

  private final PublisherFunction publisher;

  SnapshotSink(
      PublisherFunction publisher,
      SerializableFunction<String, KafkaSink<SnapshotRecords.Part>> withPrefix,
      String prefix,
      String topic) {
    super(SnapshotRecords::parts, withPrefix, prefix, List.of(topic), null);
    this.publisher = publisher;
  }

  @Override
  public DataStream<SnapshotRecord> addPreWriteTopology(DataStream<SnapshotRecord> records) {
    return records
        .flatMap(publisher, TypeInformation.of(SnapshotRecord.class))
        .name(OperatorUids.PUBLISHER)
        .uid(OperatorUids.PUBLISHER)
        .setParallelism(1);
  }
}
