package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.serializers.SnapshotRecord;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The record of a chunk, of a manifest, or of the removal of a chunk. */
final class SnapshotRecords implements KafkaRecordSerializationSchema<SnapshotRecord> {
  private static final long serialVersionUID = 1;

  private final String topic;

  SnapshotRecords(String topic) {
    this.topic = topic;
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      SnapshotRecord record, KafkaSinkContext context, Long timestamp) {
    return new ProducerRecord<>(
        topic,
        record.key().getBytes(UTF_8),
        record.kind() == SnapshotRecord.Kind.REMOVAL ? null : record.value());
  }
}
