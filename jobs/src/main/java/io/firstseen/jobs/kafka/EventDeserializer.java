package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.events.EventParser;
import io.firstseen.events.FieldParser;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.serializers.SourceRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Parses the records of the events topic; places are {@code topic-partition@offset}. In the key
 * format, and with fields but no time field, the event time is the header {@link
 * RecordHeaders#TIMESTAMP}, else the record's timestamp.
 *
 * @param fields parses values by their fields; null for the format of the jobs
 * @param keepsRecords whether events contain their input record
 * @param scopedByTopic whether the scope of an event is the name of its topic
 */
public record EventDeserializer(
    EventFormat format,
    EventParser parser,
    @Nullable FieldParser fields,
    boolean keepsRecords,
    boolean scopedByTopic)
    implements KafkaRecordDeserializationSchema<SourceEvent> {
  /**
   * The maximum length in bytes of an event's key and of its value; longer keys and values are
   * truncated in dead letters. A value with its key, scope and headers must fit into a record of 1
   * MiB, the brokers' default limit. Otherwise one large event would fail the job after every
   * restart.
   */
  public static final int MAX_BYTES = 800 * 1024;

  /**
   * The maximum length in bytes of a forwarded record with its key and headers. Including the
   * overhead of the protocol, the record fits into 1 MiB.
   */
  public static final int MAX_RECORD_BYTES = 960 * 1024;

  // The maximum overhead of the protocol per header.
  private static final int HEADER_BYTES = 8;

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<SourceEvent> out) {
    SourceEvent event = event(record);
    if (scopedByTopic && event.isWellFormed()) {
      event = event.withScope(record.topic().getBytes(UTF_8));
    }
    out.collect(keepsRecords && event.isWellFormed() ? withRecord(event, record) : event);
  }

  private static SourceEvent withRecord(SourceEvent event, ConsumerRecord<byte[], byte[]> record) {
    long bytes = length(record.key()) + length(record.value());
    List<SourceRecord.Header> headers = new ArrayList<>();
    for (Header header : record.headers()) {
      headers.add(new SourceRecord.Header(header.key(), header.value()));
      bytes += HEADER_BYTES + Utils.utf8Length(header.key()) + length(header.value());
    }
    if (bytes > MAX_RECORD_BYTES) {
      return SourceEvent.malformed(
          "record must be at most %d bytes with its key and headers, got %d"
              .formatted(MAX_RECORD_BYTES, bytes),
          record.value() == null ? cut(record.key()) : record.value(),
          event.place());
    }
    return event.withRecord(
        new SourceRecord(record.partition(), record.timestamp(), record.key(), headers));
  }

  private static byte @Nullable [] cut(byte @Nullable [] key) {
    return key == null ? null : Arrays.copyOf(key, Math.min(key.length, MAX_BYTES));
  }

  private static long length(byte @Nullable [] bytes) {
    return bytes == null ? 0 : bytes.length;
  }

  private SourceEvent event(ConsumerRecord<byte[], byte[]> record) {
    Place place = new Place(record.topic(), record.partition(), record.offset());
    byte[] key = record.key();
    byte[] value = record.value();
    if (value != null && value.length > MAX_BYTES) {
      return tooLong("value", value, place);
    }
    if (value == null && (fields != null || format == EventFormat.JSON)) {
      return SourceEvent.malformed("value is missing", cut(key), place);
    }
    if (fields != null) {
      return fields.parse(value, timestampMillis(record), place);
    }
    if (format == EventFormat.JSON) {
      return parser.parseJson(value, place);
    }
    if (key != null && key.length > MAX_BYTES) {
      return tooLong("key", key, place);
    }
    return parser.parseKeyed(key, value, timestampMillis(record), place);
  }

  private static long timestampMillis(ConsumerRecord<byte[], byte[]> record) {
    return RecordHeaders.timestampMillis(record.headers(), record.timestamp());
  }

  private static SourceEvent tooLong(String what, byte[] bytes, Place place) {
    return SourceEvent.malformed(
        "%s must be at most %d bytes, got %d".formatted(what, MAX_BYTES, bytes.length),
        Arrays.copyOf(bytes, MAX_BYTES),
        place);
  }

  @Override
  public TypeInformation<SourceEvent> getProducedType() {
    return TypeInformation.of(SourceEvent.class);
  }
}
