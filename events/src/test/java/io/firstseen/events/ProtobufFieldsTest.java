package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import com.google.protobuf.Timestamp;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.io.ByteArrayOutputStream;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProtobufFieldsTest {
  private static final Place PLACE = Place.of("in:7");

  private static final FileDescriptorProto TIMESTAMP =
      Timestamp.getDescriptor().getFile().toProto();

  /**
   *
   *
   * <pre>{@code
   * syntax = "proto3"; package shop;
   * message Outer { message Order {
   *   string id = 1; int64 n = 2; uint64 u = 3; bool b = 4; bytes raw = 5; Op op = 6;
   *   google.protobuf.Timestamp at = 7; repeated Order lines = 8; map<int32, string> labels = 9;
   *   optional string maybe = 10; sint32 z = 11; fixed32 x = 12; double d = 13;
   *   enum Op { CREATE = 0; DELETE = 3; } } }
   * }</pre>
   */
  private static final FileDescriptorProto SHOP = shop();

  private static FileDescriptorProto shop() {
    DescriptorProto.Builder order =
        DescriptorProto.newBuilder()
            .setName("Order")
            .addField(field("id", 1, FieldDescriptorProto.Type.TYPE_STRING))
            .addField(field("n", 2, FieldDescriptorProto.Type.TYPE_INT64))
            .addField(field("u", 3, FieldDescriptorProto.Type.TYPE_UINT64))
            .addField(field("b", 4, FieldDescriptorProto.Type.TYPE_BOOL))
            .addField(field("raw", 5, FieldDescriptorProto.Type.TYPE_BYTES))
            .addField(
                field("op", 6, FieldDescriptorProto.Type.TYPE_ENUM)
                    .setTypeName(".shop.Outer.Order.Op"))
            .addField(
                field("at", 7, FieldDescriptorProto.Type.TYPE_MESSAGE)
                    .setTypeName(".google.protobuf.Timestamp"))
            .addField(repeated("lines", 8, ".shop.Outer.Order"))
            .addField(repeated("labels", 9, ".shop.Outer.Order.LabelsEntry"))
            .addField(
                field("maybe", 10, FieldDescriptorProto.Type.TYPE_STRING)
                    .setProto3Optional(true)
                    .setOneofIndex(0))
            .addField(field("z", 11, FieldDescriptorProto.Type.TYPE_SINT32))
            .addField(field("x", 12, FieldDescriptorProto.Type.TYPE_FIXED32))
            .addField(field("d", 13, FieldDescriptorProto.Type.TYPE_DOUBLE))
            .addOneofDecl(OneofDescriptorProto.newBuilder().setName("_maybe"))
            .addEnumType(
                EnumDescriptorProto.newBuilder()
                    .setName("Op")
                    .addValue(EnumValueDescriptorProto.newBuilder().setName("CREATE").setNumber(0))
                    .addValue(EnumValueDescriptorProto.newBuilder().setName("DELETE").setNumber(3)))
            .addNestedType(
                DescriptorProto.newBuilder()
                    .setName("LabelsEntry")
                    .setOptions(MessageOptions.newBuilder().setMapEntry(true))
                    .addField(field("key", 1, FieldDescriptorProto.Type.TYPE_INT32))
                    .addField(field("value", 2, FieldDescriptorProto.Type.TYPE_STRING)));
    return FileDescriptorProto.newBuilder()
        .setName("shop.proto")
        .setPackage("shop")
        .setSyntax("proto3")
        .addDependency(TIMESTAMP.getName())
        .addMessageType(DescriptorProto.newBuilder().setName("Outer").addNestedType(order))
        .build();
  }

  private static FieldDescriptorProto.Builder field(
      String name, int number, FieldDescriptorProto.Type type) {
    return FieldDescriptorProto.newBuilder()
        .setName(name)
        .setNumber(number)
        .setType(type)
        .setLabel(Label.LABEL_OPTIONAL);
  }

  private static FieldDescriptorProto.Builder repeated(String name, int number, String type) {
    return field(name, number, FieldDescriptorProto.Type.TYPE_MESSAGE)
        .setTypeName(type)
        .setLabel(Label.LABEL_REPEATED);
  }

  private static ValueSchema schema(boolean hasHeader) {
    return schema("shop.Outer.Order", hasHeader, SHOP, TIMESTAMP);
  }

  private static ValueSchema schema(
      String message, boolean hasHeader, FileDescriptorProto... files) {
    byte[] set = FileDescriptorSet.newBuilder().addAllFile(List.of(files)).build().toByteArray();
    return new ValueSchema(null, set, hasHeader, message);
  }

  private static EventFields keys(String... pointers) {
    List<FieldPointer> keys = Stream.of(pointers).map(FieldPointer::parse).toList();
    return new EventFields(keys, null, TimeUnit.MILLISECONDS, null, Set.of(), null);
  }

  private static FieldParser parser(EventFields fields, ValueSchema schema) {
    return FieldParser.of(fields, schema, Duration.ofHours(1), Clock.systemUTC());
  }

  private static byte[] hex(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  private static SourceEvent parse(EventFields fields, String hex) {
    return parser(fields, schema(false)).parse(hex(hex), 5, PLACE);
  }

  /** The bytes are written by hand, as the encoding says. */
  @ParameterizedTest
  @CsvSource({
    "/id, 0a02c3bc, ü",
    "/n, 10ffffffffffffffffff01, -1",
    "/n, 0a0178, 0",
    "/u, 18ffffffffffffffffff01, 18446744073709551615",
    "/b, 2001, true",
    "/b, 0a0178, false",
    "/op, 3003, DELETE",
    "/op, 0a0178, CREATE",
    "/op, 3007, 7",
    "/lines/1/id, 42030a0161 42030a0162, b",
    "/labels/-2, 4a0e 08feffffffffffffffff01 120178, x",
    "/labels/7, 4a05 0807 120178 4a05 0807 120179, y",
    "/maybe, 520178, x",
    "/z, 5803, -2",
    "/x, 65ffffffff, 4294967295",
    "/d, 69000000000000f83f, 1.5",
    "/at/seconds, 3a020805, 5",
    // The last value counts; unknown fields are skipped.
    "/id, 0a0161 0a0162 a00601, b",
  })
  void aKeyIsTheTextOfItsField(String pointer, String bytes, String key) {
    assertThat(parse(keys(pointer), bytes))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, key.getBytes(UTF_8), hex(bytes), 5, PLACE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/id | 1001 | key is empty",
        "/maybe | 1001 | key field /maybe is missing",
        "/maybe | 5200 | key is empty",
        "/at/seconds | 1001 | key field /at/seconds is missing",
        "/labels/7 | 4a05 0808 120178 | key field /labels/7 is missing",
        "/lines/1/id | 42030a0161 | key field /lines/1/id is missing",
        "/no | 1001 | key field /no is missing",
        "/at | 3a020805 | key field /at must be a string, number or boolean, it is an object",
        "/lines | 42030a0161 | key field /lines must be a string, number or boolean, it is an "
            + "array",
        "/id | 0a05 | malformed Protocol Buffers: While parsing a protocol message, the input "
            + "ended",
        "/id | 0a01ff | malformed Protocol Buffers: Protocol message had invalid UTF-8.",
        "/id | ff | malformed Protocol Buffers: While parsing a protocol message, the input ended",
        "/id | 00 | malformed Protocol Buffers: Protocol message contained an invalid tag (zero).",
        "/id | 0c | malformed Protocol Buffers: Protocol message end-group tag did not match",
      })
  void aValueWithoutAKeyIsADeadLetter(String pointer, String bytes, String problem) {
    assertThat(parse(keys(pointer), bytes).problem()).startsWith(problem);
    assertThat(parse(keys(pointer), bytes).payload()).isEqualTo(hex(bytes));
  }

  /** With proto2, Protocol Buffers read bytes that are not UTF-8 as a replacement character. */
  @Test
  void keysThatAreNotUtf8AreNotMerged() {
    FileDescriptorProto old =
        FileDescriptorProto.newBuilder()
            .setName("old.proto")
            .setSyntax("proto2")
            .addMessageType(
                DescriptorProto.newBuilder()
                    .setName("Old")
                    .addField(field("id", 1, FieldDescriptorProto.Type.TYPE_STRING))
                    .addField(field("note", 2, FieldDescriptorProto.Type.TYPE_STRING)))
            .build();
    FieldParser parser =
        FieldParser.of(
            keys("/id"), schema("Old", false, old), Duration.ofDays(1), Clock.systemUTC());
    for (String latin1 : List.of("0a04636166e9", "0a04636166e8")) {
      assertThat(parser.parse(hex(latin1), 5, PLACE).problem()).isEqualTo("field id is not UTF-8");
    }
    assertThat(new String(parser.parse(hex("0a03efbfbd"), 5, PLACE).key(), UTF_8))
        .isEqualTo("\uFFFD");
    assertThat(parser.parse(hex("0a016b 1201e9"), 5, PLACE).problem()).isNull();
  }

  @Test
  void bytesAreAKeyAsTheyAreAndAsBase64InAnArray() {
    assertThat(parse(keys("/raw"), "2a02ff00").key()).isEqualTo(hex("ff00"));
    assertThat(new String(parse(keys("/raw", "/n"), "2a02ff00 1004").key(), UTF_8))
        .isEqualTo("[\"/wA=\",4]");
  }

  @Test
  void aTimestampIsATimeWhateverTheUnit() {
    EventFields fields =
        new EventFields(
            List.of(FieldPointer.parse("/id")),
            FieldPointer.parse("/at"),
            TimeUnit.NANOSECONDS,
            FieldPointer.parse("/op"),
            Set.of("DELETE"),
            FieldPointer.parse("/labels/1"));
    // 1,700,000,000 seconds and 1,999,999 nanoseconds.
    String bytes = "0a016b 3a0a 0880e2cfaa06 10ff887a 3003 4a05 0801 120174";
    assertThat(parse(fields, bytes))
        .isEqualTo(
            SourceEvent.of(
                Operation.DELETE,
                "t".getBytes(UTF_8),
                "k".getBytes(UTF_8),
                hex(bytes),
                1_700_000_000_001L,
                PLACE));
    assertThat(parse(fields, "0a016b").problem()).isEqualTo("time field /at is missing");
    // Of -1 seconds, and of the most there can be.
    assertThat(parse(fields, "0a016b 3a0b 08ffffffffffffffffff01").problem())
        .isEqualTo("time must not be negative, got -1000 ms");
    assertThat(parse(fields, "0a016b 3a0a 08ffffffffffffffff7f").problem())
        .startsWith("time field /at must be a whole number of nanoseconds");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "00 00000007 04 00 00 0a016b | ",
        "00 00000007 00 0a016b | value must have the message indexes of shop.Outer.Order, [0, "
            + "0], got [0]",
        "00 00000007 04 02 00 0a016b | value must have the message indexes of shop.Outer.Order,"
            + " [0, 0], got [1, 0]",
        "00 00000007 06 00 00 01 0a016b | value must have the message indexes of shop.Outer.Order,"
            + " [0, 0], got [0, 0, -1]",
        "01 00000007 00 0a016b | value must start with a zero byte and the 4 bytes of its schema "
            + "id, it starts with 1",
        "00 000000 | value must start with a zero byte and the 4 bytes of its schema id, it has 4"
            + " bytes",
        "00 00000007 01 0a016b | value must have 0 to 100 message indexes, got -1",
        "00 00000007 | malformed Protocol Buffers: While parsing a protocol message, the input "
            + "ended",
        "00 00000007 02 | malformed Protocol Buffers: While parsing a protocol message, the "
            + "input ended",
        "00 00000007 feffffffffffffffff01 00 | value must have 0 to 100 message indexes, got"
            + " 9223372036854775807",
      })
  void theHeaderOfARegistryLeadsToTheMessage(String bytes, String problem) {
    SourceEvent event = parser(keys("/id"), schema(true)).parse(hex(bytes), 5, PLACE);
    if (problem == null) {
      assertThat(event.problem()).isNull();
      assertThat(event.key()).isEqualTo("k".getBytes(UTF_8));
    } else {
      assertThat(event.problem()).startsWith(problem);
    }
  }

  @Test
  void aZeroLeadsToTheFirstMessageOfTheFile() {
    DescriptorProto first =
        DescriptorProto.newBuilder()
            .setName("First")
            .addField(field("id", 1, FieldDescriptorProto.Type.TYPE_STRING))
            .build();
    FileDescriptorProto file =
        FileDescriptorProto.newBuilder()
            .setName("two.proto")
            .addMessageType(first)
            .addMessageType(first.toBuilder().setName("Second"))
            .build();
    for (String[] each :
        new String[][] {
          {"First", "00", ""},
          {"First", "0200", ""},
          {"First", "0202", "value must have the message indexes of First, [0], got [1]"},
          {"Second", "0202", ""},
          {"Second", "00", "value must have the message indexes of Second, [1], got [0]"},
        }) {
      SourceEvent event =
          parser(keys("/id"), schema(each[0], true, file))
              .parse(hex("0000000007" + each[1] + "0a016b"), 5, PLACE);
      assertThat(event.isWellFormed() ? "" : event.problem()).isEqualTo(each[2]);
    }
  }

  @ParameterizedTest
  @CsvSource({"proto2, 0801, B", "proto2, 0807, ''", "proto3, 0807, 7"})
  void aNumberThatAClosedEnumDoesNotHaveIsAMissingField(String syntax, String bytes, String key) {
    FileDescriptorProto file =
        FileDescriptorProto.newBuilder()
            .setName("enum.proto")
            .setSyntax(syntax)
            .addEnumType(
                EnumDescriptorProto.newBuilder()
                    .setName("E")
                    .addValue(EnumValueDescriptorProto.newBuilder().setName("A").setNumber(0))
                    .addValue(EnumValueDescriptorProto.newBuilder().setName("B").setNumber(1)))
            .addMessageType(
                DescriptorProto.newBuilder()
                    .setName("M")
                    .addField(field("e", 1, FieldDescriptorProto.Type.TYPE_ENUM).setTypeName(".E")))
            .build();
    SourceEvent event = parser(keys("/e"), schema("M", false, file)).parse(hex(bytes), 5, PLACE);
    if (key.isEmpty()) {
      assertThat(event.problem()).isEqualTo("key field /e is missing");
    } else {
      assertThat(event.key()).isEqualTo(key.getBytes(UTF_8));
    }
  }

  /** Two bytes must not cost a hundred. */
  @ParameterizedTest
  @CsvSource({
    // Messages, in the value and in a message; entries of a map; numbers without a symbol.
    "'', 4200",
    "42, 4200",
    "'', 4a00",
    "'', 3007",
    "32, 07",
  })
  void aValueWithTooManyMessagesIsADeadLetter(String outer, String one) {
    FieldParser parser = parser(keys("/id"), schema(false));
    String problem =
        "Protocol Buffers must have at most 100000 messages, map entries and enums in a value,"
            + " got more";
    int most = ProtobufFields.MAX_MESSAGES - (outer.equals("42") ? 1 : 0);
    assertThat(parser.parse(repeated(outer, one, most), 5, PLACE).problem()).isNull();
    assertThat(parser.parse(repeated(outer, one, most + 1), 5, PLACE).problem()).isEqualTo(problem);
    assertThat(parser.parse(repeated("aa06", one, most + 1), 5, PLACE).problem())
        .as("in an unknown field")
        .isNull();
  }

  /** A key, and bytes many times in a field with a tag, or in the value itself. */
  private static byte[] repeated(String tag, String one, int times) {
    byte[] many = hex(one.repeat(times));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(hex("0a016b" + tag));
    if (!tag.isEmpty()) {
      for (int rest = many.length; ; rest >>>= 7) {
        out.write(rest > 0x7F ? (rest & 0x7F) | 0x80 : rest);
        if (rest <= 0x7F) {
          break;
        }
      }
    }
    out.writeBytes(many);
    return out.toByteArray();
  }

  @Test
  void aFileWithoutTheMessageIsRefusedAtTheStart() {
    assertRefused(
        schema("shop.Order", false, SHOP, TIMESTAMP),
        "--schema does not define message shop.Order; its files are shop.proto,"
            + " google/protobuf/timestamp.proto");
    assertRefused(
        schema("shop.Outer.Order", false, SHOP),
        "--schema does not contain the imported file google/protobuf/timestamp.proto: create it"
            + " with --include_imports");
    assertRefused(
        schema("a.B", false, SHOP.toBuilder().addDependency("shop.proto").build(), TIMESTAMP),
        "--schema has a file that imports itself,  shop.proto");
    assertRefused(
        new ValueSchema(null, "syntax = \"proto3\";".getBytes(UTF_8), false, "a.B"),
        "--schema is not a Protocol Buffers descriptor set (protoc --descriptor_set_out"
            + " --include_imports): ");
    assertRefused(
        schema("shop.Outer.Order", false, SHOP.toBuilder().clearDependency().build()),
        "--schema is not a Protocol Buffers descriptor set (protoc --descriptor_set_out"
            + " --include_imports): ");
  }

  private static void assertRefused(ValueSchema schema, String sentence) {
    assertThatThrownBy(() -> parser(keys("/id"), schema))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith(sentence);
  }

  @Test
  void deepAndDamagedValuesNeverThrow() {
    FieldParser parser =
        parser(keys("/id", "/lines/0/id", "/labels/7", "/at/seconds"), schema(false));
    // Messages in messages: tag and length, from the inside out.
    byte[] deep = new byte[0];
    for (int i = 0; i < 5_000; i++) {
      byte[] outer = new byte[deep.length + 5];
      outer[0] = 0x42;
      for (int j = 0; j < 4; j++) {
        outer[j + 1] = (byte) (((deep.length >>> (7 * j)) & 0x7F) | (j < 3 ? 0x80 : 0));
      }
      System.arraycopy(deep, 0, outer, 5, deep.length);
      deep = outer;
    }
    assertThat(parser.parse(deep, 5, PLACE).problem())
        .startsWith("malformed Protocol Buffers: Protocol message had too many levels");
    byte[] value = hex("0a016b 42030a0161 4a05 0807 120178 3a0a 0880e2cfaa06 10ff887a 3003");
    assertThat(parser.parse(value, 5, PLACE).problem()).isNull();
    Random random = new Random(59);
    int problems = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = Arrays.copyOf(value, value.length - random.nextInt(2));
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      problems += parser.parse(damaged, 5, PLACE).isWellFormed() ? 0 : 1;
    }
    assertThat(problems).isGreaterThan(1_000);
  }

  @Test
  void aParserTravelsWithTheJob() throws Exception {
    FieldParser travelled = InstantiationUtil.clone(parser(keys("/id"), schema(false)));
    assertThat(travelled.parse(hex("0a016b"), 5, PLACE).key()).isEqualTo("k".getBytes(UTF_8));
  }
}
