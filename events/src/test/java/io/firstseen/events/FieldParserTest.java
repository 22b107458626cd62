package io.firstseen.events;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FieldParserTest {
  private static final long NOW = 1_700_000_000_000L;
  private static final Clock CLOCK = Clock.fixed(Instant.ofEpochMilli(NOW), ZoneOffset.UTC);
  private static final Place PLACE = Place.of("in:7");

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  private static FieldParser parser(EventFields fields) {
    return FieldParser.of(fields, ValueSchema.NONE, Duration.ofHours(1), CLOCK);
  }

  private static EventFields keys(String... pointers) {
    List<FieldPointer> keys = Stream.of(pointers).map(FieldPointer::parse).toList();
    return new EventFields(keys, null, TimeUnit.MILLISECONDS, null, Set.of(), null);
  }

  private static EventFields time(TimeUnit unit) {
    FieldPointer key = FieldPointer.parse("/id");
    return new EventFields(List.of(key), FieldPointer.parse("/t"), unit, null, Set.of(), null);
  }

  private static SourceEvent parse(EventFields fields, String json) {
    return parser(fields).parse(utf8(json), 5, PLACE);
  }

  private static String key(EventFields fields, String json) {
    SourceEvent event = parse(fields, json);
    assertThat(event.problem()).isNull();
    return new String(event.key(), UTF_8);
  }

  private static void assertMalformed(EventFields fields, String json, String problem) {
    assertThat(parse(fields, json)).isEqualTo(SourceEvent.malformed(problem, utf8(json), PLACE));
  }

  // ---- pointers

  @ParameterizedTest
  @ValueSource(strings = {"id", "/a~", "/a~2", "/~/b", " /a"})
  void otherTextIsNoPointer(String text) {
    assertThatThrownBy(() -> FieldPointer.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("JSON pointer", "~0", "~1", "'" + text + "'");
  }

  /** The examples of RFC 6901, those that name scalars. */
  @Test
  void pointersMeanWhatTheStandardSays() {
    String json =
        "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,"
            + "\"k\\\"l\":6,\" \":7,\"m~n\":8}";
    Map<String, String> examples = new HashMap<>();
    examples.put("/foo/0", "bar");
    examples.put("/", "0");
    examples.put("/a~1b", "1");
    examples.put("/c%d", "2");
    examples.put("/e^f", "3");
    examples.put("/g|h", "4");
    examples.put("/i\\j", "5");
    examples.put("/k\"l", "6");
    examples.put("/ ", "7");
    examples.put("/m~0n", "8");
    examples.forEach((pointer, key) -> assertThat(key(keys(pointer), json)).isEqualTo(key));
    assertThat(key(keys(""), "\"all\"")).isEqualTo("all");
    assertThat(key(keys("/1/a~01"), "[0,{\"a~1\":\"x\"}]")).isEqualTo("x");
    assertMalformed(keys("/foo/00"), json, "key field /foo/00 is missing");
    assertMalformed(keys("/foo/-"), json, "key field /foo/- is missing");
  }

  /** Another reader of JSON must find the same. */
  @Test
  void randomValuesAreReadAsATreeOfThemSays() throws Exception {
    long seed = 41;
    Random random = new Random(seed);
    ObjectMapper mapper = new ObjectMapper();
    String[] names = {"a", "b", "0", "1"};
    int found = 0;
    for (int i = 0; i < 3_000 * Integer.getInteger("firstseen.scale", 1); i++) {
      String json = json(random, names, 0);
      String pointer = "/" + names[random.nextInt(4)] + "/" + names[random.nextInt(4)];
      JsonNode node = mapper.readTree(json).at(pointer);
      SourceEvent event = parse(keys(pointer), json);
      boolean isKey = node.isTextual() || node.isNumber() || node.isBoolean();
      if (event.isWellFormed() != isKey
          || (isKey && !new String(event.key(), UTF_8).equals(node.asText()))) {
        throw new AssertionError("seed " + seed + ", " + pointer + " of " + json + ": " + event);
      }
      found += isKey ? 1 : 0;
    }
    assertThat(found).isGreaterThan(100);
  }

  private static String json(Random random, String[] names, int depth) {
    int kind = depth == 0 ? 7 : random.nextInt(depth > 3 ? 4 : 8);
    StringBuilder json = new StringBuilder();
    switch (kind) {
      case 0 -> json.append("\"s").append(random.nextInt(9)).append('"');
      case 1 -> json.append(random.nextInt(99) - 9);
      case 2 -> json.append(random.nextBoolean());
      case 3 -> json.append("null");
      case 4, 5 -> {
        for (int i = random.nextInt(4); i >= 0; i--) {
          json.append(json.isEmpty() ? "[" : ",").append(json(random, names, depth + 1));
        }
        json.append(']');
      }
      default -> {
        // Names repeat.
        for (int i = random.nextInt(5); i >= 0; i--) {
          json.append(json.isEmpty() ? "{" : ",");
          json.append('"').append(names[random.nextInt(4)]).append("\":");
          json.append(json(random, names, depth + 1));
        }
        json.append('}');
      }
    }
    return json.toString();
  }

  // ---- keys

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"a\\u00fc\\\"b\" | aü\"b",
        "0 | 0",
        "-0 | -0",
        "12345678901234567890123 | 12345678901234567890123",
        "1.50 | 1.50",
        "1E+5 | 1E+5",
        "true | true",
        "false | false",
      })
  void aKeyIsTheTextOfItsField(String written, String key) {
    assertThat(key(keys("/o/id"), "{\"o\":{\"x\":[],\"id\":" + written + "},\"z\":1}"))
        .isEqualTo(key);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{} | key field /id is missing",
        "{\"id\":null} | key field /id is null",
        "{\"id\":{\"id\":1}} | key field /id must be a string, number or boolean, it is an object",
        "{\"id\":[1]} | key field /id must be a string, number or boolean, it is an array",
        "{\"id\":\"\"} | key is empty",
        "{\"id\":\"\\ud800\"} | key has an unpaired surrogate",
        "7 | key field /id is missing",
        "`` | malformed JSON: no value",
        "{\"id\":1} 2 | JSON continues after the value",
      })
  void aValueWithoutAKeyIsADeadLetter(String json, String problem) {
    assertMalformed(keys("/id"), json, problem);
  }

  @Test
  void theLastOfRepeatedFieldsCountsWithAllThatIsInIt() {
    assertThat(key(keys("/a/id"), "{\"a\":{\"id\":1},\"a\":{\"id\":2}}")).isEqualTo("2");
    assertMalformed(
        keys("/a/id"), "{\"a\":{\"id\":1},\"a\":{\"x\":2}}", "key field /a/id is missing");
    assertMalformed(keys("/a/id"), "{\"a\":{\"id\":1},\"a\":7}", "key field /a/id is missing");
  }

  @Test
  void severalFieldsAreAJsonArray() {
    EventFields two = keys("/a", "/b/c");
    assertThat(key(two, "{\"b\":{\"c\":7.0},\"a\":\"x\"}")).isEqualTo("[\"x\",7.0]");
    assertThat(key(two, "{\"b\":{\"c\":true},\"a\":\"\"}")).isEqualTo("[\"\",true]");
    assertThat(key(two, "{\"a\":\"\\u00fc/\\/ \\\"\\\\ \\u0001\\u000A\\u007f\",\"b\":{\"c\":0}}"))
        .isEqualTo("[\"ü// \\\"\\\\ \\u0001\\n\u007f\",0]");
    // These keys would be equal without quotes.
    assertThat(key(two, "{\"a\":\"1,2\",\"b\":{\"c\":3}}"))
        .isNotEqualTo(key(two, "{\"a\":1,\"b\":{\"c\":\"2,3\"}}"));
    assertMalformed(two, "{\"a\":1,\"b\":{}}", "key field /b/c is missing");
    assertMalformed(
        two,
        "{\"a\":[],\"b\":{\"c\":0}}",
        "key field /a must be a string, number or boolean, it is an array");
    assertThat(key(keys("/a", "/a"), "{\"a\":1}")).isEqualTo("[1,1]");
  }

  /** Different fields never make one key. */
  @Test
  void aCompositeKeyIsReadBackByAnotherReader() throws Exception {
    long seed = 43;
    Random random = new Random(seed);
    ObjectMapper mapper = new ObjectMapper();
    for (int i = 0; i < 2_000; i++) {
      String a = text(random);
      String b = text(random);
      String json = mapper.writeValueAsString(Map.of("a", a, "b", b));
      JsonNode back = mapper.readTree(key(keys("/a", "/b"), json));
      if (!back.get(0).asText().equals(a) || !back.get(1).asText().equals(b)) {
        throw new AssertionError("seed " + seed + ": " + json + " became " + back);
      }
    }
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(6); i > 0; i--) {
      text.appendCodePoint(
          random.nextBoolean() ? random.nextInt(128) : 0x10000 + random.nextInt(99));
    }
    return text.toString();
  }

  @Test
  void aKeyOfMoreThan65536BytesIsADeadLetter() {
    String longest = "x".repeat(65_536);
    assertThat(key(keys("/id"), "{\"id\":\"" + longest + "\"}")).isEqualTo(longest);
    assertMalformed(
        keys("/id"), "{\"id\":\"x" + longest + "\"}", "key must be at most 65536 bytes, got 65537");
    assertMalformed(
        keys("/id", "/n"),
        "{\"id\":\"" + longest + "\",\"n\":1}",
        "key must be at most 65536 bytes, got 65542");
  }

  // ---- time

  @Test
  void withoutAFieldTheTimeIsTheRecords() {
    assertThat(parse(keys("/id"), "{\"id\":1}"))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, utf8("1"), utf8("{\"id\":1}"), 5, PLACE));
    byte[] json = utf8("{\"id\":1}");
    assertThat(parser(keys("/id")).parse(json, -1, PLACE).problem()).isEqualTo("time is missing");
    assertThat(parser(keys("/id")).parse(json, NOW + 3_600_001, PLACE).problem())
        .isEqualTo("time must be at most 3600000 ms ahead of the clock, got 3600001 ms ahead");
  }

  @ParameterizedTest
  @CsvSource({
    "MILLISECONDS, 1699999999999, 1699999999999",
    "SECONDS, 1699999999, 1699999999000",
    "MICROSECONDS, 1699999999999999, 1699999999999",
    "NANOSECONDS, 1699999999999999999, 1699999999999",
    "SECONDS, 0, 0",
    "SECONDS, '\"2023-11-14T22:13:20Z\"', 1700000000000",
    "SECONDS, '\"2023-11-14T23:13:20.5+01:00\"', 1700000000500",
    "SECONDS, '\"2023-11-14T22:13Z\"', 1699999980000",
  })
  void aTimeIsAWholeNumberOrADateTime(TimeUnit unit, String written, long millis) {
    SourceEvent event = parse(time(unit), "{\"id\":1,\"t\":" + written + "}");
    assertThat(event.problem()).isNull();
    assertThat(event.timestampMillis()).isEqualTo(millis);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1.5 | number, '1.5'",
        "1e3 | number, '1e3'",
        "true | boolean, 'true'",
        "\"\" | string",
        "\"1699999999\" | string, '1699999999'",
        "\"2023-11-14\" | string, '2023-11-14'",
        "\"2023-11-14T22:13:20\" | string, '2023-11-14T22:13:20'",
        "\"+999999999-12-31T23:59:59Z\" | string, '+999999999-12-31T23:59:59Z'",
        "{} | an object",
        "\" ahead of the clock\" | string, ' ahead of the clock'",
      })
  void everythingElseIsNoTime(String written, String what) {
    String json = "{\"id\":1,\"t\":" + written + "}";
    String kind = what.startsWith("an ") ? what : "a " + what;
    String problem =
        "time field /t must be a whole number of seconds or a date-time with an offset, it is "
            + kind;
    assertMalformed(time(TimeUnit.SECONDS), json, problem);
    assertThat(ProblemKind.of(problem)).isEqualTo(ProblemKind.BAD_TIME);
  }

  @ParameterizedTest
  @ValueSource(strings = {"9223372036854776", "-9223372036854776", "9223372036854775808"})
  void aTimeWhoseMillisecondsAreNoLongIsADeadLetter(String written) {
    String problem =
        "time field /t must be between -9223372036854775 and 9223372036854775 seconds, it is '"
            + written
            + "'";
    assertMalformed(time(TimeUnit.SECONDS), "{\"id\":1,\"t\":" + written + "}", problem);
    assertThat(ProblemKind.of(problem)).isEqualTo(ProblemKind.BAD_TIME);
  }

  @Test
  void millisecondsThatLookLikeSecondsAreADeadLetter() {
    String problem =
        "time field /t must be in milliseconds, 1699999999 looks like seconds: multiply it by 1000,"
            + " or with --time-field add --time-unit seconds";
    assertMalformed(time(TimeUnit.MILLISECONDS), "{\"id\":1,\"t\":1699999999}", problem);
    assertThat(ProblemKind.of(problem)).isEqualTo(ProblemKind.BAD_TIME);
    String early = "{\"id\":1,\"t\":\"1970-01-20T16:13:19.999Z\"}";
    assertThat(parse(time(TimeUnit.MILLISECONDS), early).timestampMillis()).isEqualTo(1699999999);
  }

  @Test
  void aTimeThatIsMissingNegativeOrTooFarAheadIsADeadLetter() {
    assertMalformed(time(TimeUnit.SECONDS), "{\"id\":1}", "time field /t is missing");
    assertMalformed(time(TimeUnit.SECONDS), "{\"id\":1,\"t\":null}", "time field /t is null");
    assertMalformed(
        time(TimeUnit.NANOSECONDS), "{\"id\":1,\"t\":-1}", "time must not be negative, got -1 ms");
    assertMalformed(
        time(TimeUnit.SECONDS),
        "{\"id\":1,\"t\":1700003601}",
        "time must be at most 3600000 ms ahead of the clock, got 3601000 ms ahead");
  }

  // ---- operation and scope

  @ParameterizedTest
  @CsvSource({
    "'\"d\"', DELETE",
    "'\"delete\"', DELETE",
    "1, DELETE",
    "true, DELETE",
    "'\"true\"', DELETE",
    "'\"D\"', ADD",
    "'\"\"', ADD",
    "1.0, ADD",
    "false, ADD",
    "null, ADD",
    "'[\"d\"]', ADD"
  })
  void onlyDeleteValuesDelete(String written, Operation operation) {
    EventFields fields =
        new EventFields(
            List.of(FieldPointer.parse("/id")),
            null,
            TimeUnit.MILLISECONDS,
            FieldPointer.parse("/op"),
            Set.of("d", "delete", "1", "true"),
            null);
    assertThat(parse(fields, "{\"id\":1,\"op\":" + written + "}").operation()).isEqualTo(operation);
    assertThat(parse(fields, "{\"id\":1}").operation()).isEqualTo(Operation.ADD);
  }

  @Test
  void aScopeIsTheTextOfItsField() {
    EventFields fields =
        new EventFields(
            List.of(FieldPointer.parse("/id")),
            FieldPointer.parse("/t"),
            TimeUnit.MILLISECONDS,
            FieldPointer.parse("/op"),
            Set.of("d"),
            FieldPointer.parse("/s"));
    String all = "{\"id\":1,\"t\":9,\"op\":\"d\",\"s\":%s}";
    String json = all.formatted("\"tenant\"");
    assertThat(parse(fields, json))
        .isEqualTo(
            SourceEvent.of(Operation.DELETE, utf8("tenant"), utf8("1"), utf8(json), 9, PLACE));
    assertThat(parse(fields, all.formatted("7")).scope()).isEqualTo(utf8("7"));
    assertThat(parse(fields, all.formatted("\"\"")).scope()).isNull();
    assertThat(parse(fields, all.formatted("null")).scope()).isNull();
    assertThat(parse(fields, "{\"id\":1,\"t\":9}").scope()).isNull();
    assertMalformed(
        fields,
        all.formatted("{}"),
        "scope field /s must be a string, number or boolean, it is an object");
    assertMalformed(
        fields,
        all.formatted("\"" + "s".repeat(65_537) + "\""),
        "scope must be at most 65536 bytes, got 65537");
  }

  // ---- any bytes

  @Test
  void hostileValuesAreDeadLetters() {
    FieldParser parser = parser(keys("/a/0/b"));
    String deep = "[".repeat(200_000);
    for (String json :
        List.of(
            "{\"x\":" + deep + "]".repeat(200_000) + "}",
            "{\"a\":" + deep,
            "{\"a\":[",
            "{\"a\":[{\"b\"",
            "{\"a\":[{\"b\":1" + "0".repeat(2_000) + "}]}",
            "\u0000{}")) {
      assertThat(parser.parse(utf8(json), 5, PLACE).problem()).startsWith("malformed JSON: ");
    }
    byte[] latin1 = "{\"a\":\"\u00ff\"}".getBytes(ISO_8859_1);
    assertThat(parser.parse(latin1, 5, PLACE).problem())
        .isEqualTo("not UTF-8: malformed at byte 6");
    Random random = new Random(47);
    byte[] valid = utf8("{\"a\":[{\"b\":\"key\"}]}");
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = valid.clone();
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt(256);
      // Throws nothing.
      parser.parse(damaged, 5, PLACE);
    }
  }

  @Test
  void aParserTravelsWithTheJob() throws Exception {
    FieldParser travelled =
        InstantiationUtil.clone(
            FieldParser.of(
                keys("/a/b", "/c"), ValueSchema.NONE, Duration.ofHours(1), Clock.systemUTC()));
    byte[] json = utf8("{\"a\":{\"b\":1},\"c\":2}");
    assertThat(travelled.parse(json, 5, PLACE).key()).isEqualTo(utf8("[1,2]"));
  }
}
