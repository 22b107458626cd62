package io.firstseen.jobs.kafka;

import io.firstseen.jobs.events.EventParser;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Parses the records of the accepted topic with {@link EventParser#parseChange}; places are {@code
 * topic-partition@offset}. A record that is not a valid change, or whose time is too far ahead of
 * the system clock, becomes an event with a problem. Fails on a record of another topic of the
 * jobs.
 */
public final class ChangelogDeserializer implements KafkaRecordDeserializationSchema<SourceEvent> {
  private static final long serialVersionUID = 1;

  private final EventParser parser;
  private transient @Nullable AcceptedReader reader;

  /** Creates a deserializer. */
  public ChangelogDeserializer(EventParser parser) {
    this.parser = parser;
  }

  void reportTo(AcceptedReader newReader) {
    reader = newReader;
  }

  @Override
  public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<SourceEvent> out) {
    out.collect(parse(record));
  }

  SourceEvent parse(ConsumerRecord<byte[], byte[]> record) {
    AcceptedTopic.requireNoOther(record);
    Place place = new Place(record.topic(), record.partition(), record.offset());
    long timestampMillis = RecordHeaders.timestampMillis(record.headers(), record.timestamp());
    SourceEvent event = parser.parseChange(record.key(), record.value(), timestampMillis, place);
    if (reader != null) {
      reader.read(record.partition(), record.timestamp(), event.timestampMillis());
    }
    return event;
  }

  @Override
  public TypeInformation<SourceEvent> getProducedType() {
    return TypeInformation.of(SourceEvent.class);
  }
}
