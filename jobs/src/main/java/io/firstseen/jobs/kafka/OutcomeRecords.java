package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.SourceEvent;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Serializes outcomes into records.
 *
 * <table>
 *   <caption>The records of each topic</caption>
 *   <tr><th>topic<th>key<th>value<th>headers
 *   <tr><td>accepted<td>canonical key prefixed with its scope<td>payload, null for a delete<td>timestamp, match
 *   <tr><td>duplicates<td>canonical key prefixed with its scope<td>payload<td>timestamp, outcome, match, bands
 *   <tr><td>dead letters<td>the key as received, if known<td>raw bytes<td>reason, place
 *   <tr><td>claims<td>see {@link OutputClaim}<td>see {@link WrittenOffsets}<td>none
 * </table>
 *
 * @param acceptedPartitions the number of partitions of the accepted topic to write to; 0 for all
 */
record OutcomeRecords(
    String acceptedTopic,
    int acceptedPartitions,
    String duplicatesTopic,
    String deadLettersTopic,
    String claimsTopic)
    implements KafkaRecordSerializationSchema<Outcome> {
  private static final long serialVersionUID = 1;

  private static final byte[] NO_PAYLOAD = {};
  private static final byte[] DUPLICATE = "duplicate".getBytes(UTF_8);
  private static final byte[] FALSE_DUPLICATE = "false-duplicate".getBytes(UTF_8);
  private static final byte[] UNKNOWN_DELETE = "unknown-delete".getBytes(UTF_8);

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      Outcome outcome, KafkaSinkContext context, Long timestamp) {
    SourceEvent event = outcome.event();
    return switch (outcome.kind()) {
      // A null value would delete the key.
      case ACCEPTED -> accepted(outcome, event.payload() == null ? NO_PAYLOAD : event.payload());
      case REMOVED -> accepted(outcome, null);
      case DUPLICATE -> repeat(outcome, DUPLICATE);
      case FALSE_DUPLICATE -> repeat(outcome, FALSE_DUPLICATE);
      case UNKNOWN_DELETE -> repeat(outcome, UNKNOWN_DELETE);
      case DEAD_LETTER -> deadLetter(event, outcome.reason());
      case WRITTEN -> new ProducerRecord<>(claimsTopic, 0, outcome.canonicalKey(), event.payload());
    };
  }

  private ProducerRecord<byte[], byte[]> accepted(Outcome outcome, byte @Nullable [] value) {
    // The producer's own choice.
    Integer partition =
        acceptedPartitions == 0
            ? null
            : (Integer)
                BuiltInPartitioner.partitionForKey(outcome.canonicalKey(), acceptedPartitions);
    return timed(acceptedTopic, partition, outcome, value);
  }

  private static ProducerRecord<byte[], byte[]> timed(
      String topic, @Nullable Integer partition, Outcome outcome, byte @Nullable [] value) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, partition, outcome.canonicalKey(), value);
    RecordHeaders.writeTimestamp(record.headers(), outcome.event().timestampMillis());
    if (outcome.match() != null && !outcome.match().text().isEmpty()) {
      RecordHeaders.writeText(record.headers(), RecordHeaders.MATCH, outcome.match().text());
    }
    return record;
  }

  private ProducerRecord<byte[], byte[]> repeat(Outcome outcome, byte[] kind) {
    ProducerRecord<byte[], byte[]> record =
        timed(duplicatesTopic, null, outcome, outcome.event().payload());
    record.headers().add(RecordHeaders.OUTCOME, kind);
    if (outcome.match() != null) {
      RecordHeaders.writeText(
          record.headers(), RecordHeaders.BANDS, Integer.toString(outcome.match().bands()));
    }
    return record;
  }

  private ProducerRecord<byte[], byte[]> deadLetter(SourceEvent event, String reason) {
    byte[] key = event.key().length == 0 ? null : event.key();
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(deadLettersTopic, key, event.payload());
    Headers headers = record.headers();
    RecordHeaders.writeText(headers, RecordHeaders.REASON, reason);
    RecordHeaders.writeText(headers, RecordHeaders.PLACE, event.place().toString());
    return record;
  }
}
