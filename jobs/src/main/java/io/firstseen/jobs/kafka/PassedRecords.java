package io.firstseen.jobs.kafka;

import io.firstseen.jobs.shared.Output;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.serializers.SourceRecord;
import java.util.List;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;

/**
 * Serializes outcomes in a job that forwards accepted records unchanged, with key, value, headers,
 * timestamp and partition. All other outcomes are written by {@link OutcomeRecords}.
 */
record PassedRecords(String topic, OutcomeRecords others)
    implements KafkaRecordSerializationSchema<PassedRecords.Part> {
  private static final long serialVersionUID = 1;

  /**
   * The content of one record.
   *
   * @param isPassedOn whether it is the unchanged record of the event
   */
  record Part(Outcome outcome, boolean isPassedOn) {}

  /** The parts of an outcome: a changed key is written to the changelog, forwarded, or both. */
  static List<Part> parts(Outcome outcome, Output output) {
    return switch (outcome.kind()) {
      case ACCEPTED, REMOVED ->
          output == Output.BOTH
              ? List.of(new Part(outcome, false), new Part(outcome, true))
              : List.of(new Part(outcome, output.hasRecords()));
      case DUPLICATE, FALSE_DUPLICATE, UNKNOWN_DELETE, DEAD_LETTER, WRITTEN ->
          List.of(new Part(outcome, false));
    };
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      Part part, KafkaSinkContext context, Long timestamp) {
    if (!part.isPassedOn()) {
      return others.serialize(part.outcome(), context, timestamp);
    }
    SourceEvent event = part.outcome().event();
    SourceRecord record = event.record();
    if (record == null) {
      throw new UserErrorException(
          ("the event at %s comes from an unaligned checkpoint of a job without --output record:"
                  + " start from a savepoint or an aligned checkpoint")
              .formatted(event.place()));
    }
    int partitions = context.getPartitionsForTopic(topic).length;
    if (record.partition() >= partitions) {
      // The job continues as soon as there are enough partitions, so this error does not end the
      // job.
      throw new IllegalStateException(
          "topic %s must have as many partitions as the topics of events, but has %d, and there is a record at %s (add partitions)"
              .formatted(topic, partitions, event.place()));
    }
    ProducerRecord<byte[], byte[]> passed =
        new ProducerRecord<>(
            topic,
            record.partition(),
            record.timestampMillis() < 0 ? null : (Long) record.timestampMillis(),
            record.key(),
            event.payload());
    Headers headers = passed.headers();
    for (SourceRecord.Header header : record.headers()) {
      headers.add(header.name(), header.value());
    }
    return passed;
  }
}
