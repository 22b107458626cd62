package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.events.EventFields;
import io.firstseen.events.EventParser;
import io.firstseen.events.FieldParser;
import io.firstseen.events.FieldPointer;
import io.firstseen.events.ValueSchema;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.snapshot.BlobFrame;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.KafkaOptions.EventFormat;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SnapshotRecord;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.serializers.SourceRecord;
import io.firstseen.types.Operation;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.types.Either;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Records are read back as written, and other records are rejected. */
class RecordsTest {

  private static final long RECORD_TIME = 1_000;
  private static final Place PLACE = Place.of("topic-3@42");

  private final EventParser parser = new EventParser(Duration.ofHours(1), Clock.systemUTC());

  private static OutcomeRecords records(String output) {
    return KafkaSinks.records(
        KafkaOptions.parse(
            "--bootstrap-servers=localhost:9092", "--output=" + output, "--records-topic=t"));
  }

  private static ProducerRecord<byte[], byte[]> serialize(Outcome outcome) {
    return records("changelog").serialize(new OutcomeRecords.Result(outcome, false), null, 9L);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  private static ConsumerRecord<byte[], byte[]> record(byte[] key, byte[] value, Headers headers) {
    return new ConsumerRecord<>(
        "topic",
        3,
        42,
        RECORD_TIME,
        TimestampType.CREATE_TIME,
        0,
        0,
        key,
        value,
        headers,
        Optional.empty());
  }

  private static SourceEvent read(
      KafkaRecordDeserializationSchema<SourceEvent> deserializer,
      ConsumerRecord<byte[], byte[]> record)
      throws Exception {
    List<SourceEvent> events = new ArrayList<>();
    deserializer.deserialize(record, new ListCollector<>(events));
    assertThat(events).hasSize(1);
    return events.get(0);
  }

  private static Headers none() {
    return new org.apache.kafka.common.header.internals.RecordHeaders();
  }

  private static Headers timestamp(byte... value) {
    Headers headers = none();
    headers.add(new RecordHeader("firstseen.timestamp", value));
    return headers;
  }

  private EventDeserializer deserializer(EventFormat format) {
    return new EventDeserializer(format, parser, null, false, false);
  }

  @Test
  void jsonEventsCarryTheirValueAsPayload() throws Exception {
    byte[] json = utf8("{\"ts\":5,\"op\":\"add\",\"key\":\"k\"}");
    EventDeserializer deserializer = deserializer(EventFormat.JSON);
    assertThat(read(deserializer, record(utf8("ignored"), json, none())))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, utf8("k"), json, 5, PLACE));
    assertThat(read(deserializer, record(null, null, none())))
        .isEqualTo(SourceEvent.malformed("value is missing", null, PLACE));
    assertThat(read(deserializer, record(utf8("k"), null, none())))
        .isEqualTo(SourceEvent.malformed("value is missing", utf8("k"), PLACE));
  }

  @Test
  void eventsOfNamedFieldsTakeTheTimeOfTheHeaderElseOfTheRecord() throws Exception {
    byte[] json = utf8("{\"op\":\"any\",\"id\":[7]}");
    EventFields fields =
        new EventFields(
            List.of(FieldPointer.parse("/id/0")), null, TimeUnit.SECONDS, null, Set.of(), null);
    EventDeserializer deserializer =
        new EventDeserializer(
            EventFormat.JSON,
            parser,
            FieldParser.of(fields, ValueSchema.NONE, Duration.ofHours(1), Clock.systemUTC()),
            false,
            false);
    assertThat(read(deserializer, record(utf8("ignored"), json, none())))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, utf8("7"), json, RECORD_TIME, PLACE));
    byte[] five = {0, 0, 0, 0, 0, 0, 0, 5};
    assertThat(read(deserializer, record(null, json, timestamp(five))).timestampMillis())
        .isEqualTo(5);
    byte[] tooLong = new byte[EventDeserializer.MAX_BYTES + 1];
    assertThat(read(deserializer, record(null, tooLong, none())).problem())
        .isEqualTo("value must be at most 819200 bytes, got 819201");
  }

  /** Everything that is written is as long as it is counted, or longer in the count. */
  @Test
  void aRecordTooLongToBePassedOnIsADeadLetterAndOthersAreKept() throws Exception {
    EventDeserializer plain = deserializer(EventFormat.KEY);
    EventDeserializer keeping = new EventDeserializer(EventFormat.KEY, parser, null, true, false);
    byte[] key = utf8("k");
    byte[] value = new byte[EventDeserializer.MAX_BYTES];
    Headers headers = none();
    headers.add("ü", new byte[160 * 1024 - 1 - 10 - 9]);
    headers.add("h", null);
    SourceEvent kept = read(keeping, record(key, value, headers));
    SourceEvent event = read(plain, record(key, value, headers));
    assertThat(event.record()).isNull();
    assertThat(kept)
        .isEqualTo(
            event.withRecord(
                new SourceRecord(
                    3,
                    RECORD_TIME,
                    key,
                    List.of(
                        new SourceRecord.Header("ü", new byte[160 * 1024 - 1 - 10 - 9]),
                        new SourceRecord.Header("h", null)))));
    headers.add("", null);
    assertThat(read(plain, record(key, value, headers)).isWellFormed()).isTrue();
    assertThat(read(keeping, record(key, value, headers)))
        .isEqualTo(
            SourceEvent.malformed(
                "record must be at most 983040 bytes with its key and headers, got 983048",
                value,
                PLACE));
    assertThat(read(keeping, record(null, value, none())).record()).isNull();
  }

  @Test
  void anAcceptedRecordIsPassedOnAsItCame() {
    OutcomeRecords passing = records("both");
    SourceEvent event =
        SourceEvent.of(Operation.ADD, null, utf8("k"), null, 5, PLACE)
            .withRecord(
                new SourceRecord(3, 7, null, List.of(new SourceRecord.Header("a", utf8("b")))));
    Outcome removed = Outcome.of(Outcome.Kind.REMOVED, utf8("k"), event);
    List<OutcomeRecords.Part> parts = passing.parts(Either.Left(removed));
    assertThat(passing.serialize(parts.get(0), new Partitions(4), 9L))
        .isEqualTo(serialize(removed));
    assertThat(passing.serialize(parts.get(1), new Partitions(4), 9L))
        .isEqualTo(
            new ProducerRecord<>(
                "t", 3, 7L, null, null, List.of(new RecordHeader("a", utf8("b")))));
    assertThat(records("record").parts(Either.Left(removed))).containsExactly(parts.get(1));
    assertThat(records("changelog").parts(Either.Left(removed))).containsExactly(parts.get(0));
    Outcome repeat = Outcome.of(Outcome.Kind.DUPLICATE, utf8("k"), event);
    assertThat(passing.parts(Either.Left(repeat)))
        .containsExactly(new OutcomeRecords.Result(repeat, false));
    assertThatThrownBy(() -> passing.serialize(parts.get(1), new Partitions(3), 9L))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContainingAll("topic t", "has 3", "topic-3@42", "add partitions");
    Outcome older =
        Outcome.of(
            Outcome.Kind.ACCEPTED,
            utf8("k"),
            SourceEvent.of(Operation.ADD, null, utf8("k"), null, 5, PLACE));
    assertThatThrownBy(
            () -> passing.serialize(new OutcomeRecords.Result(older, true), new Partitions(4), 9L))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("start from a savepoint");
  }

  @Test
  void keyedEventsTakeTheTimeOfTheHeaderElseOfTheRecord() throws Exception {
    EventDeserializer deserializer = deserializer(EventFormat.KEY);
    byte[] value = utf8("v");
    assertThat(read(deserializer, record(utf8("k"), value, none())))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, utf8("k"), value, RECORD_TIME, PLACE));
    byte[] five = {0, 0, 0, 0, 0, 0, 0, 5};
    assertThat(read(deserializer, record(utf8("k"), null, timestamp(five))))
        .isEqualTo(SourceEvent.of(Operation.DELETE, null, utf8("k"), null, 5, PLACE));
    byte[] tooShort = {0, 0, 5};
    assertThat(read(deserializer, record(utf8("k"), null, timestamp(tooShort))).timestampMillis())
        .isEqualTo(RECORD_TIME);
  }

  @Test
  void aValueThatWouldNotFitIntoAnOutputRecordIsADeadLetterCutShort() throws Exception {
    byte[] value = new byte[EventDeserializer.MAX_BYTES + 1];
    Arrays.fill(value, (byte) ' ');
    for (EventFormat format : EventFormat.values()) {
      SourceEvent event = read(deserializer(format), record(utf8("k"), value, none()));
      assertThat(event.problem()).isEqualTo("value must be at most 819200 bytes, got 819201");
      assertThat(event.payload()).hasSize(EventDeserializer.MAX_BYTES);
    }
    SourceEvent longKey = read(deserializer(EventFormat.KEY), record(value, null, none()));
    assertThat(longKey.problem()).isEqualTo("key must be at most 819200 bytes, got 819201");
    assertThat(longKey.payload()).hasSize(EventDeserializer.MAX_BYTES);
  }

  @Test
  void acceptedAndRemovedKeysAreAChangelogThatTheSnapshotJobReads() throws Exception {
    byte[] payload = utf8("payload");
    SourceEvent event =
        SourceEvent.of(Operation.ADD, utf8("s"), utf8("K"), payload, 0x0102030405060708L, PLACE);
    byte[] key = utf8("joined");
    ProducerRecord<byte[], byte[]> added = serialize(Outcome.of(Outcome.Kind.ACCEPTED, key, event));
    assertThat(added.topic()).isEqualTo("firstseen.accepted");
    assertThat(added.key()).isEqualTo(key);
    assertThat(added.value()).isEqualTo(payload);
    assertThat(added.timestamp()).isNull();
    assertThat(added.headers().lastHeader("firstseen.timestamp").value())
        .containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
    ProducerRecord<byte[], byte[]> removed =
        serialize(Outcome.of(Outcome.Kind.REMOVED, key, event));
    assertThat(removed.value()).isNull();

    ChangelogDeserializer changelog =
        new ChangelogDeserializer(
            new EventParser(Duration.ofMillis(Long.MAX_VALUE), Clock.systemUTC()));
    assertThat(read(changelog, record(added.key(), added.value(), added.headers())))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, key, null, 0x0102030405060708L, PLACE));
    assertThat(read(changelog, record(removed.key(), removed.value(), removed.headers())))
        .isEqualTo(SourceEvent.of(Operation.DELETE, null, key, null, 0x0102030405060708L, PLACE));
    assertThat(read(changelog, record(null, payload, none())).isWellFormed()).isFalse();
    assertThat(read(changelog, record(key, payload, none())).timestampMillis())
        .isEqualTo(RECORD_TIME);
    byte[] minusOne = {-1, -1, -1, -1, -1, -1, -1, -1};
    assertThat(read(changelog, record(key, payload, timestamp(minusOne))).isWellFormed()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "example.org, firstseen.outcome, a topic of duplicates",
    "example.org, firstseen.reason, a topic of dead letters",
    "firstseen.accepted/claim, after, a topic of claims",
    "a81c31ac62620b9215a14ff00544cb07a55b765594f3ab3be77e70923ae27cf1/0, other, a topic of snapshots"
  })
  void aRecordOfAnotherTopicFailsTheReaderOfChanges(String key, String header, String kind) {
    ChangelogDeserializer changelog =
        new ChangelogDeserializer(new EventParser(Duration.ofHours(1), Clock.systemUTC()));
    Headers headers = none();
    headers.add(header, utf8("text"));
    assertThatThrownBy(() -> read(changelog, record(utf8(key), utf8("value"), headers)))
        .isExactlyInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("topic topic", "accepted topic", kind, "topic-3@42");
  }

  /** It would end all windows before it. */
  @Test
  void aChangeTooFarAheadOfTheClockIsNoChange() throws Exception {
    Clock clock = Clock.fixed(Instant.ofEpochMilli(7_000), ZoneOffset.UTC);
    ChangelogDeserializer changelog =
        new ChangelogDeserializer(new EventParser(Duration.ofSeconds(1), clock));
    byte[] key = utf8("k");
    byte[] atTheBound = {0, 0, 0, 0, 0, 0, 31, 64};
    assertThat(read(changelog, record(key, null, timestamp(atTheBound))))
        .isEqualTo(SourceEvent.of(Operation.DELETE, null, key, null, 8_000, PLACE));
    byte[] later = {0, 0, 0, 0, 0, 0, 31, 65};
    byte[] lastOfAll = {127, -1, -1, -1, -1, -1, -1, -1};
    for (byte[] value : new byte[][] {null, utf8("payload")}) {
      assertThat(read(changelog, record(key, value, timestamp(later))))
          .isEqualTo(
              SourceEvent.malformed(
                  "time must be at most 1000 ms ahead of the clock, got 1001 ms ahead",
                  null,
                  PLACE));
      assertThat(read(changelog, record(key, value, timestamp(lastOfAll))).problem())
          .startsWith("time must be at most 1000 ms ahead of the clock, got ");
    }
  }

  @Test
  void anAcceptedKeyWithoutPayloadIsNoTombstone() {
    SourceEvent event = SourceEvent.of(Operation.ADD, null, utf8("k"), null, 5, PLACE);
    assertThat(serialize(Outcome.of(Outcome.Kind.ACCEPTED, utf8("k"), event)).value()).isEmpty();
  }

  @Test
  void textsSayWhichTextTheyMatch() {
    SourceEvent event = SourceEvent.of(Operation.ADD, null, utf8("K"), utf8("v"), 5, PLACE);
    Headers accepted = headers(Outcome.Kind.ACCEPTED, event, new NearMatch("eb1aa1dd8865ab6d", 0));
    assertThat(accepted.lastHeader("firstseen.match").value()).isEqualTo(utf8("eb1aa1dd8865ab6d"));
    assertThat(accepted.lastHeader("firstseen.bands")).isNull();
    Headers repeat = headers(Outcome.Kind.DUPLICATE, event, new NearMatch("b6d", 12));
    assertThat(repeat.lastHeader("firstseen.match").value()).isEqualTo(utf8("b6d"));
    assertThat(repeat.lastHeader("firstseen.bands").value()).isEqualTo(utf8("12"));
    Headers unknown = headers(Outcome.Kind.DUPLICATE, event, new NearMatch("", 1));
    assertThat(unknown.lastHeader("firstseen.match")).isNull();
    assertThat(unknown.lastHeader("firstseen.bands").value()).isEqualTo(utf8("1"));
    assertThat(headers(Outcome.Kind.DUPLICATE, event, null))
        .extracting(Header::key)
        .containsExactly("firstseen.timestamp", "firstseen.outcome");
  }

  private Headers headers(Outcome.Kind kind, SourceEvent event, @Nullable NearMatch match) {
    return serialize(Outcome.of(kind, utf8("k"), event, match)).headers();
  }

  @Test
  void repeatsSayWhatTheyAre() {
    SourceEvent event = SourceEvent.of(Operation.ADD, null, utf8("K"), utf8("v"), 5, PLACE);
    Map<Outcome.Kind, String> kinds =
        Map.of(
            Outcome.Kind.DUPLICATE, "duplicate",
            Outcome.Kind.FALSE_DUPLICATE, "false-duplicate",
            Outcome.Kind.UNKNOWN_DELETE, "unknown-delete");
    for (Outcome.Kind kind : kinds.keySet()) {
      ProducerRecord<byte[], byte[]> record = serialize(Outcome.of(kind, utf8("k"), event));
      assertThat(record.topic()).isEqualTo("firstseen.duplicates");
      assertThat(record.key()).isEqualTo(utf8("k"));
      assertThat(record.value()).isEqualTo(utf8("v"));
      assertThat(record.headers().lastHeader("firstseen.timestamp").value()).hasSize(8);
      assertThat(record.headers().lastHeader("firstseen.outcome").value())
          .isEqualTo(utf8(kinds.get(kind)));
    }
  }

  @Test
  void deadLettersCarryTheirBytesReasonAndPlace() {
    ProducerRecord<byte[], byte[]> malformed =
        serialize(Outcome.deadLetter(SourceEvent.malformed("why", utf8("raw"), PLACE), "why"));
    assertThat(malformed.topic()).isEqualTo("firstseen.dead-letters");
    assertThat(malformed.key()).isNull();
    assertThat(malformed.value()).isEqualTo(utf8("raw"));
    assertThat(malformed.headers().lastHeader("firstseen.reason").value()).isEqualTo(utf8("why"));
    assertThat(malformed.headers().lastHeader("firstseen.place").value())
        .isEqualTo(utf8(PLACE.toString()));
    SourceEvent refused = SourceEvent.of(Operation.DELETE, null, utf8("K"), null, 5, PLACE);
    ProducerRecord<byte[], byte[]> keyed = serialize(Outcome.deadLetter(refused, "no URL"));
    assertThat(keyed.key()).isEqualTo(utf8("K"));
    assertThat(keyed.value()).isNull();
  }

  @Test
  void blobsAreCutIntoChunks() {
    byte[] blob = blob(BlobFrame.Kind.PACK, 2 * 900 * 1024 + 1);
    String digest = "ab".repeat(32);
    List<ProducerRecord<byte[], byte[]>> chunks =
        records(new SnapshotRecord(SnapshotRecord.Kind.BLOB, digest, blob), 1);
    assertThat(chunks)
        .extracting(ProducerRecord::key)
        .containsExactly(utf8(digest + "/0"), utf8(digest + "/1"), utf8(digest + "/2"));
    assertThat(chunks)
        .extracting(ProducerRecord::value)
        .containsExactly(
            Arrays.copyOfRange(blob, 0, 900 * 1024),
            Arrays.copyOfRange(blob, 900 * 1024, 2 * 900 * 1024),
            Arrays.copyOfRange(blob, 2 * 900 * 1024, blob.length));
    assertThat(chunks).extracting(ProducerRecord::topic).containsOnly("t");
  }

  @Test
  void aManifestIsOneRecord() {
    byte[] manifest = new byte[2 * 900 * 1024];
    List<ProducerRecord<byte[], byte[]>> all =
        records(new SnapshotRecord(SnapshotRecord.Kind.MANIFEST, "set", manifest), 3);
    assertThat(all).hasSize(1);
    assertThat(all.get(0).key()).isEqualTo(utf8("set"));
    assertThat(all.get(0).value()).isEqualTo(manifest);
    assertThat(all.get(0).partition()).isEqualTo(0);
  }

  @Test
  void aRemovedBlobLosesEveryChunk() {
    String digest = "ab".repeat(32);
    BlobReference blob = new BlobReference(digest, 2 * 900 * 1024 + 1);
    List<ProducerRecord<byte[], byte[]>> tombstones =
        records(SnapshotRecord.removal(blob, BlobFrame.Kind.BASE), 2);
    assertThat(tombstones)
        .extracting(ProducerRecord::key)
        .containsExactly(utf8(digest + "/0"), utf8(digest + "/1"), utf8(digest + "/2"));
    assertThat(tombstones).extracting(ProducerRecord::value).containsOnlyNulls();
  }

  /** A tombstone removes only records of its own partition. */
  @ParameterizedTest
  @CsvSource({
    "PACK, 1, 0",
    "BASE, 1, 0",
    "BASE_LIST, 1, 0",
    "PACK, 2, 0",
    "BASE, 2, 1",
    "BASE_LIST, 2, 1",
    "PACK, 5, 0",
    "BASE, 5, 4",
    "BASE_LIST, 5, 4"
  })
  void aBlobAndItsRemovalAreOnThePartitionOfItsKind(
      BlobFrame.Kind kind, int partitions, int partition) {
    byte[] bytes = blob(kind, 900 * 1024 + 1);
    BlobReference blob = BlobReference.to(bytes);
    assertThat(
            records(new SnapshotRecord(SnapshotRecord.Kind.BLOB, blob.digest(), bytes), partitions))
        .extracting(ProducerRecord::partition)
        .containsExactly(partition, partition);
    assertThat(records(SnapshotRecord.removal(blob, kind), partitions))
        .extracting(ProducerRecord::partition)
        .containsExactly(partition, partition);
  }

  private static byte[] blob(BlobFrame.Kind kind, int length) {
    byte[] blob = new byte[length];
    new Random(3).nextBytes(blob);
    byte[] frame = {(byte) 0x89, 'F', 'S', 'B', 1, 0, (byte) kind.code(), 1, 's'};
    System.arraycopy(frame, 0, blob, 0, frame.length);
    return blob;
  }

  private static List<ProducerRecord<byte[], byte[]>> records(
      SnapshotRecord record, int partitions) {
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    SnapshotRecords serializer = new SnapshotRecords("t");
    for (SnapshotRecords.Part part : SnapshotRecords.parts(record)) {
      records.add(serializer.serialize(part, new Partitions(partitions), 9L));
    }
    return records;
  }

  private record Partitions(int count) implements KafkaRecordSerializationSchema.KafkaSinkContext {
    @Override
    public int getParallelInstanceId() {
      return 0;
    }

    @Override
    public int getNumberOfParallelInstances() {
      return 1;
    }

    @Override
    public int[] getPartitionsForTopic(String topic) {
      assertThat(topic).isEqualTo("t");
      return IntStream.range(0, count).toArray();
    }
  }
}
