package io.firstseen.jobs.kafka;

import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Reads changes from the records of the accepted topic: a record's key is the joined canonical key;
 * a null value removes it. The payload is dropped. A record that cannot be a change becomes an
 * event with a problem.
 */
public final class ChangelogDeserializer implements KafkaRecordDeserializationSchema<SourceEvent> {
  private static final long serialVersionUID = 1;

  /** Later than any real time, but low enough that the end of its window does not overflow. */
  private static final long MAX_TIMESTAMP_MILLIS = Long.MAX_VALUE / 2;

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<SourceEvent> out) {
    String place = record.topic() + "-" + record.partition() + "@" + record.offset();
    long timestampMillis = RecordHeaders.timestampMillis(record.headers(), record.timestamp());
    if (record.key() == null || record.key().length == 0) {
      out.collect(SourceEvent.malformed("key is missing", null, place));
    } else if (timestampMillis < 0) {
      out.collect(SourceEvent.malformed("time is missing", null, place));
    } else if (timestampMillis > MAX_TIMESTAMP_MILLIS) {
      out.collect(
          SourceEvent.malformed(
              "time must be at most " + MAX_TIMESTAMP_MILLIS + " ms", null, place));
    } else {
      Operation operation = record.value() == null ? Operation.DELETE : Operation.ADD;
      out.collect(SourceEvent.of(operation, null, record.key(), null, timestampMillis, place));
    }
  }

  @Override
  public TypeInformation<SourceEvent> getProducedType() {
    return TypeInformation.of(SourceEvent.class);
  }
}
