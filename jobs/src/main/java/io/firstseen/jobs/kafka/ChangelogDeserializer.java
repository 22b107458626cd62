package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.events.EventParser;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
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
    requireNoOther(record);
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

  /** Rejects records of other topics of the jobs. Other writers may omit headers. */
  private static void requireNoOther(ConsumerRecord<byte[], byte[]> record) {
    String found = other(record);
    if (found != null) {
      throw refusal(record, found);
    }
  }

  /** Rejects records that no dedup writes to its accepted topic. */
  static void requireAccepted(ConsumerRecord<byte[], byte[]> record) {
    requireNoOther(record);
    if (record.headers().lastHeader(RecordHeaders.TIMESTAMP) == null) {
      throw refusal(record, "has a record without the header " + RecordHeaders.TIMESTAMP);
    }
  }

  private static @Nullable String other(ConsumerRecord<byte[], byte[]> record) {
    Headers headers = record.headers();
    if (headers.lastHeader(RecordHeaders.OUTCOME) != null) {
      return "is a topic of duplicates";
    }
    if (headers.lastHeader(RecordHeaders.REASON) != null) {
      return "is a topic of dead letters";
    }
    if (headers.lastHeader(RecordHeaders.TIMESTAMP) != null || record.key() == null) {
      return null;
    }
    String key = new String(record.key(), UTF_8);
    if (headers.lastHeader(ClaimsTail.AFTER) != null && OutputClaim.isClaimKey(key)) {
      return "is a topic of claims";
    }
    return SnapshotTopicFormat.parseChunkKey(key).isPresent() ? "is a topic of snapshots" : null;
  }

  private static UserErrorException refusal(ConsumerRecord<byte[], byte[]> record, String found) {
    return new UserErrorException(
        "topic %s is not the accepted topic of a dedup job: it %s (%s-%d@%d)"
            .formatted(record.topic(), found, record.topic(), record.partition(), record.offset()));
  }
}
