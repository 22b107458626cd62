package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AvroFieldsTest {
  private static final Place PLACE = Place.of("in:7");

  private static final String SCHEMA =
      """
      {"type":"record","name":"Order","namespace":"shop","fields":[
        {"name":"skipped","type":["null",{"type":"map","values":{"type":"array","items":"Order"}}]},
        {"name":"id","type":["null","string","long","double"]},
        {"name":"i","type":"int"},
        {"name":"f","type":"float"},
        {"name":"d","type":"double"},
        {"name":"b","type":"boolean"},
        {"name":"raw","type":"bytes"},
        {"name":"mac","type":{"type":"fixed","name":"Mac","size":6}},
        {"name":"op","type":{"type":"enum","name":"Op","symbols":["c","u","d"]}},
        {"name":"millis","type":{"type":"long","logicalType":"timestamp-millis"}},
        {"name":"micros","type":["null",{"type":"long","logicalType":"timestamp-micros"}]},
        {"name":"nanos","type":{"type":"long","logicalType":"timestamp-nanos"}},
        {"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
          {"name":"sku","type":"string"},{"name":"n","type":"int"}]}}},
        {"name":"labels","type":{"type":"map","values":"string"}},
        {"name":"nested","type":["null","Order"]}
      ]}
      """;

  private static final Schema ORDER = new Schema.Parser().parse(SCHEMA);

  private static GenericRecord order(Object id) {
    GenericRecord order = new GenericData.Record(ORDER);
    order.put("id", id);
    order.put("i", -7);
    order.put("f", 1.5f);
    order.put("d", 1e300);
    order.put("b", true);
    order.put("raw", ByteBuffer.wrap(new byte[] {(byte) 0xFF, 0}));
    order.put(
        "mac",
        new GenericData.Fixed(
            ORDER.getField("mac").schema(), new byte[] {1, 2, 3, 4, 5, (byte) 0x80}));
    order.put("op", new GenericData.EnumSymbol(ORDER.getField("op").schema(), "d"));
    order.put("millis", 1_700_000_000_001L);
    order.put("micros", 1_700_000_000_002_999L);
    order.put("nanos", 1_700_000_000_003_999_999L);
    Schema lines = ORDER.getField("lines").schema();
    GenericRecord line = new GenericData.Record(lines.getElementType());
    line.put("sku", "ü");
    line.put("n", 2);
    order.put("lines", List.of(line, line));
    order.put("labels", Map.of("a/b", "label"));
    return order;
  }

  private static byte[] encode(Schema schema, Object value) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
      new GenericDatumWriter<>(schema).write(value, encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toByteArray();
  }

  private static byte[] encoded(Object id) {
    return encode(ORDER, order(id));
  }

  private static ValueSchema file(String schema, boolean hasHeader) {
    return new ValueSchema(null, schema.getBytes(UTF_8), hasHeader, null);
  }

  private static FieldParser parser(EventFields fields, ValueSchema schema) {
    return FieldParser.of(fields, schema, Duration.ofHours(1), Clock.systemUTC());
  }

  private static EventFields keys(String... pointers) {
    List<FieldPointer> keys = Stream.of(pointers).map(FieldPointer::parse).toList();
    return new EventFields(keys, null, TimeUnit.MILLISECONDS, null, Set.of(), null);
  }

  private static SourceEvent parse(EventFields fields, byte[] value) {
    return parser(fields, file(SCHEMA, false)).parse(value, 5, PLACE);
  }

  private static String problem(String key, byte[] value) {
    return parse(keys(key), value).problem();
  }

  @ParameterizedTest
  @CsvSource({
    "/id, key",
    "/i, -7",
    "/f, 1.5",
    "/d, 1.0E300",
    "/b, true",
    "/op, d",
    "/millis, 1700000000001",
    "/micros, 1700000000002999",
    "/lines/1/sku, ü",
    "/lines/0/n, 2",
    "/labels/a~1b, label",
  })
  void aKeyIsTheTextOfItsField(String pointer, String key) {
    byte[] value = encoded("key");
    assertThat(parse(keys(pointer), value))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, key.getBytes(UTF_8), value, 5, PLACE));
  }

  @Test
  void bytesAreAKeyAsTheyAreAndAsBase64InAnArray() {
    byte[] value = encoded(4L);
    assertThat(parse(keys("/raw"), value).key()).isEqualTo(new byte[] {(byte) 0xFF, 0});
    assertThat(parse(keys("/mac"), value).key()).isEqualTo(HexFormat.of().parseHex("010203040580"));
    assertThat(new String(parse(keys("/raw", "/id", "/op"), value).key(), UTF_8))
        .isEqualTo("[\"/wA=\",4,\"d\"]");
  }

  @ParameterizedTest
  @CsvSource({"NaN, NaN", "Infinity, Infinity", "-Infinity, -Infinity", "-0.0, ''"})
  void aNumberThatIsNotOfJsonIsNoPartOfAKeyOfSeveralFields(double number, String problem) {
    byte[] value = encoded(number);
    assertThat(parse(keys("/id"), value).key()).isEqualTo(Double.toString(number).getBytes(UTF_8));
    SourceEvent event = parse(keys("/i", "/id"), value);
    if (problem.isEmpty()) {
      assertThat(new String(event.key(), UTF_8)).isEqualTo("[-7,-0.0]");
    } else {
      assertThat(event.problem())
          .isEqualTo(
              "key field /id must be a finite number in a key of several fields, it is " + problem);
    }
  }

  @Test
  void everyTypeOfAUnionCountsAndNullIsNothing() {
    assertThat(parse(keys("/id"), encoded(5L)).key()).isEqualTo("5".getBytes(UTF_8));
    assertThat(parse(keys("/id"), encoded(5.0)).key()).isEqualTo("5.0".getBytes(UTF_8));
    assertThat(problem("/id", encoded(null))).isEqualTo("key field /id is null");
    GenericRecord outer = order("outer");
    outer.put("nested", order("inner"));
    byte[] nested = encode(ORDER, outer);
    assertThat(parse(keys("/nested/id"), nested).key()).isEqualTo("inner".getBytes(UTF_8));
    assertThat(problem("/nested/id", encoded("x"))).isEqualTo("key field /nested/id is missing");
    assertThat(problem("/lines", nested))
        .isEqualTo("key field /lines must be a string, number or boolean, it is an array");
    assertThat(problem("/nested", nested))
        .isEqualTo("key field /nested must be a string, number or boolean, it is an object");
  }

  @ParameterizedTest
  @CsvSource({"/millis, 1700000000001", "/micros, 1700000000002", "/nanos, 1700000000003"})
  void logicalTimestampsSayTheirUnit(String pointer, long millis) {
    EventFields fields =
        new EventFields(
            List.of(FieldPointer.parse("/id")),
            FieldPointer.parse(pointer),
            TimeUnit.SECONDS,
            FieldPointer.parse("/op"),
            Set.of("d"),
            FieldPointer.parse("/labels/a~1b"));
    byte[] value = encoded("k");
    assertThat(parse(fields, value))
        .isEqualTo(
            SourceEvent.of(
                Operation.DELETE,
                "label".getBytes(UTF_8),
                "k".getBytes(UTF_8),
                value,
                millis,
                PLACE));
  }

  @Test
  void theHeaderOfARegistryIsPassedOverIfItIsThere() {
    byte[] plain = encoded("k");
    byte[] value = ByteBuffer.allocate(5 + plain.length).put((byte) 0).putInt(9).put(plain).array();
    FieldParser parser = parser(keys("/id"), file(SCHEMA, true));
    assertThat(parser.parse(value, 5, PLACE).key()).isEqualTo("k".getBytes(UTF_8));
    value[0] = 1;
    assertThat(parser.parse(value, 5, PLACE).problem())
        .isEqualTo(
            "value must start with a zero byte and the 4 bytes of its schema id, it starts with 1");
    assertThat(parser.parse(new byte[4], 5, PLACE).problem())
        .isEqualTo(
            "value must start with a zero byte and the 4 bytes of its schema id, it has 4 bytes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{\"type\":\"rekord\"}",
        "\u0000",
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":-1}",
        "{\"type\":\"record\",\"name\":\"long\",\"fields\":[]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"order\":\"x\"}]}",
        "[\"int\",{\"type\":\"int\",\"aliases\":1}]",
        "{\"type\":\"map\",\"values\":[[\"int\"]]}",
      })
  void aFileWithoutASchemaIsRefusedAtTheStart(String schema) {
    assertThatThrownBy(() -> parser(keys("/id"), file(schema, false)))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith("--schema is not an Avro schema: ");
  }

  // ---- any bytes

  @Test
  void whatIsCutShortOrGoesOnIsADeadLetter() {
    byte[] value = encoded("key");
    FieldParser parser = parser(keys("/id"), file(SCHEMA, false));
    for (int length = 0; length < value.length; length++) {
      byte[] cut = Arrays.copyOf(value, length);
      assertThat(parser.parse(cut, 5, PLACE).problem()).startsWith("malformed Avro: ");
    }
    assertThat(problem("/id", Arrays.copyOf(value, value.length + 2)))
        .isEqualTo("malformed Avro: there are 2 bytes after the value");
  }

  @Test
  void damagedValuesNeverThrow() {
    Random random = new Random(53);
    GenericRecord outer = order("outer");
    outer.put("nested", order("inner"));
    byte[] value = encode(ORDER, outer);
    FieldParser parser =
        parser(keys("/id", "/lines/1/sku", "/labels/a~1b", "/nested/raw"), file(SCHEMA, false));
    int problems = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = value.clone();
      for (int j = random.nextInt(3); j >= 0; j--) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      }
      problems += parser.parse(damaged, 5, PLACE).isWellFormed() ? 0 : 1;
    }
    assertThat(problems).isGreaterThan(1_000);
  }

  /** A few bytes must not cost much memory or time. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // A length of 2^31-1.
        "\"bytes\" | feffffff0f" + " | malformed Avro: expected 2147483647 more bytes, got 0",
        "\"string\" | 01 | malformed Avro: expected -1 more bytes, got 0",
        "\"long\" | ffffffffffffffffffffff | malformed Avro: Invalid long encoding",
        "\"boolean\" | 02 | malformed Avro: a boolean is 2",
        "[\"null\"] | 02 | malformed Avro: a union must have an index less than 1, got 1",
        "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"a\"]} | 01"
            + " | malformed Avro: an enum must have an index less than 1, got -1",
        // Elements without bytes: 2^62 of them, -2^63, and two blocks of a million less one.
        "{\"type\":\"array\",\"items\":\"null\"} | 80808080808080808001"
            + " | Avro must have at most 1000000 elements, got more",
        "{\"type\":\"array\",\"items\":\"null\"} | ffffffffffffffffff0100"
            + " | Avro must have at most 1000000 elements, got more",
        "{\"type\":\"array\",\"items\":\"null\"} | fe887a fe887a"
            + " | Avro must have at most 1000000 elements, got more",
        "\"string\" | 02ff | not UTF-8: malformed at byte 0",
        // 2^60 records, without bytes.
        "RECORDS | '' | Avro must have at most 10000000 values in a value, got more",
        // A record that holds itself, twice.
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"R\"},"
            + "{\"name\":\"b\",\"type\":\"R\"}]} | '' | Avro must have at most 1000 levels, got "
            + "more",
      })
  void hostileBytesAreADeadLetter(String schema, String hex, String problem) {
    byte[] value = HexFormat.of().parseHex(hex.replace(" ", ""));
    FieldParser parser =
        parser(keys(""), file(schema.equals("RECORDS") ? nested(60) : schema, false));
    assertThat(parser.parse(value, 5, PLACE).problem()).isEqualTo(problem);
  }

  /** A record of two records, and so on. */
  private static String nested(int levels) {
    String type = "\"null\"";
    for (int i = 0; i < levels; i++) {
      type =
          "{\"type\":\"record\",\"name\":\"R%d\",\"fields\":[{\"name\":\"a\",\"type\":%s},{\"name\":\"b\",\"type\":%s}]}"
              .formatted(i, type, i == 0 ? "\"null\"" : "\"R" + (i - 1) + "\"");
    }
    return type;
  }

  @Test
  void deepValuesAreReadOrRefusedWithoutOverflow() {
    String list =
        "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"next\",\"type\":[\"null\",\"L\"]}]}";
    byte[] deep = new byte[800 * 1024];
    Arrays.fill(deep, (byte) 2);
    assertThat(parser(keys("/next"), file(list, false)).parse(deep, 5, PLACE).problem())
        .isEqualTo("Avro must have at most 1000 levels, got more");
  }

  @Test
  void aParserTravelsWithTheJob() throws Exception {
    FieldParser travelled = InstantiationUtil.clone(parser(keys("/id"), file(SCHEMA, false)));
    assertThat(travelled.parse(encoded("k"), 5, PLACE).key()).isEqualTo("k".getBytes(UTF_8));
  }
}
