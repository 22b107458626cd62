package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.jobs.shared.Output;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.serializers.SourceRecord;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.types.Either;
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
 *   <tr><td>records<td colspan="3">the unchanged record of the event, with its timestamp and partition
 *   <tr><td>duplicates<td>canonical key prefixed with its scope<td>payload<td>timestamp, outcome, match, bands
 *   <tr><td>dead letters<td>the key as received, if known<td>raw bytes<td>reason, place
 *   <tr><td>claims<td>see {@link OutputClaim}<td>see {@link WrittenOffsets}<td>none
 * </table>
 *
 * @param output the topics that changed keys are written to
 * @param acceptedPartitions the number of partitions of the accepted topic to write to; 0 for all
 */
record OutcomeRecords(
    Output output,
    String acceptedTopic,
    int acceptedPartitions,
    String recordsTopic,
    String duplicatesTopic,
    String deadLettersTopic,
    String claimsTopic)
    implements KafkaRecordSerializationSchema<OutcomeRecords.Part> {
  private static final byte[] DUPLICATE = "duplicate".getBytes(UTF_8);
  private static final byte[] FALSE_DUPLICATE = "false-duplicate".getBytes(UTF_8);
  private static final byte[] UNKNOWN_DELETE = "unknown-delete".getBytes(UTF_8);
  private static final byte[] NO_PAYLOAD = {};

  /** The content of one record. */
  sealed interface Part {}

  /**
   * A part of an outcome.
   *
   * @param isPassedOn whether the record of the event is forwarded unchanged
   */
  record Result(Outcome outcome, boolean isPassedOn) implements Part {}

  /** A record of the topic of claims. */
  record Progress(String key, String value) implements Part {}

  /**
   * The parts of an outcome, or the progress of a task. A changed key is written to the changelog,
   * forwarded, or both.
   */
  List<Part> parts(Either<Outcome, Tuple2<String, String>> element) {
    if (element.isRight()) {
      return List.of(new Progress(element.right().f0, element.right().f1));
    }
    Outcome outcome = element.left();
    boolean isChange =
        outcome.kind() == Outcome.Kind.ACCEPTED || outcome.kind() == Outcome.Kind.REMOVED;
    return isChange && output == Output.BOTH
        ? List.of(new Result(outcome, false), new Result(outcome, true))
        : List.of(new Result(outcome, isChange && output.hasRecords()));
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      Part part, KafkaSinkContext context, Long timestamp) {
    if (part instanceof Progress progress) {
      return new ProducerRecord<>(
          claimsTopic, 0, progress.key().getBytes(UTF_8), progress.value().getBytes(UTF_8));
    }
    Result result = (Result) part;
    Outcome outcome = result.outcome();
    SourceEvent event = outcome.event();
    if (result.isPassedOn()) {
      return passedOn(event, context);
    }
    return switch (outcome.kind()) {
      // A null value would delete the key.
      case ACCEPTED -> accepted(outcome, event.payload() == null ? NO_PAYLOAD : event.payload());
      case REMOVED -> accepted(outcome, null);
      case DUPLICATE -> repeat(outcome, DUPLICATE);
      case FALSE_DUPLICATE -> repeat(outcome, FALSE_DUPLICATE);
      case UNKNOWN_DELETE -> repeat(outcome, UNKNOWN_DELETE);
      case DEAD_LETTER -> deadLetter(event, outcome.reason());
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

  private ProducerRecord<byte[], byte[]> passedOn(SourceEvent event, KafkaSinkContext context) {
    SourceRecord record = event.record();
    if (record == null) {
      throw new UserErrorException(
          ("the event at %s comes from an unaligned checkpoint of a job without --output record:"
                  + " start from a savepoint or an aligned checkpoint")
              .formatted(event.place()));
    }
    int partitions = context.getPartitionsForTopic(recordsTopic).length;
    if (record.partition() >= partitions) {
      // The job continues as soon as there are enough partitions, so this error does not end the
      // job.
      throw new IllegalStateException(
          "topic %s must have as many partitions as the topics of events, but has %d, and there is a record at %s (add partitions)"
              .formatted(recordsTopic, partitions, event.place()));
    }
    ProducerRecord<byte[], byte[]> passed =
        new ProducerRecord<>(
            recordsTopic,
            record.partition(),
            record.timestampMillis() < 0 ? null : (Long) record.timestampMillis(),
            record.key(),
            event.payload());
    record.headers().forEach(header -> passed.headers().add(header.name(), header.value()));
    return passed;
  }
}
