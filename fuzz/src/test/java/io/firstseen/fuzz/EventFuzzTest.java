package io.firstseen.fuzz;

import static io.firstseen.fuzz.Fail.require;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import io.firstseen.events.EventFields;
import io.firstseen.events.EventParser;
import io.firstseen.events.FieldParser;
import io.firstseen.events.FieldPointer;
import io.firstseen.events.ValueSchema;
import io.firstseen.filters.key.Keys;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Events in all formats never cause an exception. The key, scope and time of a well-formed event
 * are within their bounds; a malformed event becomes a dead letter with its bytes and a short
 * reason.
 */
class EventFuzzTest {
  /** Text as characters and JSON numbers as text, each held several times. */
  private static final long TEXT_FACTOR = 64;

  /** A Protocol Buffers message takes two bytes of input and about a hundred bytes of memory. */
  private static final long SCHEMA_FACTOR = 512;

  private static final int MAX_PROBLEM_CHARS = 600;
  private static final long NOW = 1_700_000_000_000L;
  private static final long AHEAD_MILLIS = 3_600_000;
  private static final Place PLACE = Place.of("in:7");
  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(NOW), ZoneOffset.UTC);
  private static final Duration AHEAD = Duration.ofMillis(AHEAD_MILLIS);

  private static final EventParser PARSER = new EventParser(AHEAD, CLOCK);
  private static final FieldParser SAME_AS_JSON =
      FieldParser.of(
          fields(List.of("/key"), "/ts", "/op", "/scope"), ValueSchema.NONE, AHEAD, CLOCK);
  private static final FieldParser JSON =
      FieldParser.of(
          fields(List.of("/after/id", "/after/list/1", ""), "/at", null, "/a~1b"),
          ValueSchema.NONE,
          AHEAD,
          CLOCK);

  private static final String AVRO_SCHEMA =
      """
      {"type":"record","name":"Order","fields":[
        {"name":"skipped","type":["null",{"type":"map","values":{"type":"array","items":"Order"}}]},
        {"name":"id","type":["null","string","long","double","bytes"]},
        {"name":"mac","type":{"type":"fixed","name":"Mac","size":6}},
        {"name":"op","type":{"type":"enum","name":"Op","symbols":["c","u","d"]}},
        {"name":"at","type":{"type":"long","logicalType":"timestamp-micros"}},
        {"name":"lines","type":{"type":"array","items":["null","Order"]}},
        {"name":"labels","type":{"type":"map","values":"string"}}
      ]}
      """;
  private static final FieldParser AVRO =
      FieldParser.of(
          fields(List.of("/id", "/lines/1/id"), "/at", "/op", "/labels/x"),
          new ValueSchema(null, AVRO_SCHEMA.getBytes(UTF_8), false, null),
          AHEAD,
          CLOCK);
  private static final FieldParser PROTOBUF =
      FieldParser.of(
          fields(List.of("/id", "/lines/1/id"), "/at", "/op", "/labels/x"),
          new ValueSchema(null, descriptors(), false, "shop.Order"),
          AHEAD,
          CLOCK);

  private static EventFields fields(
      List<String> keys, String time, String operation, String scope) {
    return new EventFields(
        keys.stream().map(FieldPointer::parse).toList(),
        FieldPointer.parse(time),
        TimeUnit.MILLISECONDS,
        operation == null ? null : FieldPointer.parse(operation),
        Set.of("delete", "del", "d"),
        FieldPointer.parse(scope));
  }

  private static byte[] descriptors() {
    DescriptorProto order =
        DescriptorProto.newBuilder()
            .setName("Order")
            .addField(field("id", 1, FieldDescriptorProto.Type.TYPE_STRING))
            .addField(field("at", 2, FieldDescriptorProto.Type.TYPE_INT64))
            .addField(
                field("op", 3, FieldDescriptorProto.Type.TYPE_ENUM).setTypeName(".shop.Order.Op"))
            .addField(
                field("lines", 4, FieldDescriptorProto.Type.TYPE_MESSAGE)
                    .setTypeName(".shop.Order")
                    .setLabel(FieldDescriptorProto.Label.LABEL_REPEATED))
            .addField(
                field("labels", 5, FieldDescriptorProto.Type.TYPE_MESSAGE)
                    .setTypeName(".shop.Order.LabelsEntry")
                    .setLabel(FieldDescriptorProto.Label.LABEL_REPEATED))
            .addField(field("raw", 6, FieldDescriptorProto.Type.TYPE_BYTES))
            .addField(
                field("ops", 7, FieldDescriptorProto.Type.TYPE_ENUM)
                    .setTypeName(".shop.Order.Op")
                    .setLabel(FieldDescriptorProto.Label.LABEL_REPEATED))
            .addEnumType(
                EnumDescriptorProto.newBuilder()
                    .setName("Op")
                    .addValue(EnumValueDescriptorProto.newBuilder().setName("c").setNumber(0))
                    .addValue(EnumValueDescriptorProto.newBuilder().setName("d").setNumber(3)))
            .addNestedType(
                DescriptorProto.newBuilder()
                    .setName("LabelsEntry")
                    .setOptions(MessageOptions.newBuilder().setMapEntry(true))
                    .addField(field("key", 1, FieldDescriptorProto.Type.TYPE_STRING))
                    .addField(field("value", 2, FieldDescriptorProto.Type.TYPE_STRING)))
            .build();
    FileDescriptorProto file =
        FileDescriptorProto.newBuilder()
            .setName("shop.proto")
            .setPackage("shop")
            .setSyntax("proto3")
            .addMessageType(order)
            .build();
    return FileDescriptorSet.newBuilder().addFile(file).build().toByteArray();
  }

  private static FieldDescriptorProto.Builder field(
      String name, int number, FieldDescriptorProto.Type type) {
    return FieldDescriptorProto.newBuilder()
        .setName(name)
        .setNumber(number)
        .setType(type)
        .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL);
  }

  /** JSON, lines and records of Kafka. */
  @FuzzTest
  void text(byte[] input) throws Exception {
    Bounds.hold(
        input.length,
        TEXT_FACTOR,
        () -> {
          json(input);
          check(JSON.parse(input, NOW, PLACE), input);
          check(PARSER.parseLine(input, PLACE), input);
          check(PARSER.parseTsv(input, PLACE), input);
          check(PARSER.parseKeyed(input, null, NOW, PLACE), input);
          check(PARSER.parseChange(input, null, NOW, PLACE), null);
        });
  }

  @FuzzTest
  void avro(byte[] input) throws Exception {
    Bounds.hold(input.length, SCHEMA_FACTOR, () -> check(AVRO.parse(input, NOW, PLACE), input));
  }

  @FuzzTest
  void protobuf(byte[] input) throws Exception {
    Bounds.hold(input.length, SCHEMA_FACTOR, () -> check(PROTOBUF.parse(input, NOW, PLACE), input));
  }

  /** The fast parser, the general parser behind it, and the parser of named fields agree. */
  private static void json(byte[] input) {
    SourceEvent event = PARSER.parseJson(input, PLACE);
    check(event, input);
    SourceEvent byFields = SAME_AS_JSON.parse(input, NOW, PLACE);
    check(byFields, input);
    if (event.isWellFormed()) {
      require(
          byFields.isWellFormed()
              && Arrays.equals(event.key(), byFields.key())
              && Arrays.equals(event.scope(), byFields.scope())
              && event.timestampMillis() == byFields.timestampMillis()
              && event.operation() == byFields.operation(),
          "an event must be the one of its fields, got " + event + " and " + byFields);
    }
  }

  private static void check(SourceEvent event, byte[] input) {
    require(event.place().equals(PLACE), "an event must have its place");
    if (event.isWellFormed()) {
      require(
          Stream.of(event.key(), event.scope())
              .allMatch(
                  bytes ->
                      bytes == null || (bytes.length > 0 && bytes.length <= Keys.MAX_KEY_BYTES)),
          "key and scope must have 1 to 65536 bytes");
      require(
          event.timestampMillis() >= 0 && event.timestampMillis() <= NOW + AHEAD_MILLIS,
          "the time must be in its bounds, got " + event.timestampMillis());
    } else {
      require(
          event.problem().length() <= MAX_PROBLEM_CHARS
              && event.problem().chars().noneMatch(Character::isISOControl),
          "the reason must be one short line, got " + event.problem());
      require(
          input == null || Arrays.equals(event.payload(), input),
          "a dead letter must have its bytes");
    }
  }
}
