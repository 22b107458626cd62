package io.firstseen.events;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import io.firstseen.types.Operation;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventParserTest {

  private static final long NOW = 1_700_000_000_000L;
  private static final Place PLACE = Place.of("in:7");
  private static final String NOT_UTF8 = "not UTF-8: malformed at byte ";

  private final EventParser parser =
      new EventParser(Duration.ofHours(1), Clock.fixed(Instant.ofEpochMilli(NOW), ZoneOffset.UTC));

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  private static void assertMalformed(SourceEvent event, byte[] raw, String problem) {
    assertThat(event).isEqualTo(SourceEvent.malformed(problem, raw, PLACE));
  }

  // ---- lines

  @Test
  void aLineIsAnAddOfItsBytesAtTheTimeOfTheClock() {
    byte[] line = utf8(" http://ü.example/\ta b ");
    assertThat(parser.parseLine(line, PLACE))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, line, null, NOW, PLACE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"add", "del", "delete"})
  void aLineThatIsATsvEventIsRefused(String op) {
    byte[] line = utf8("1700000000\t" + op + "\ta.example");
    assertMalformed(
        parser.parseLine(line, PLACE),
        line,
        "the line is a TSV event, which run and bootstrap read with --format tsv");
    for (String key : new String[] {"1\tadded\tk", "1\tadd", "x1\tadd\tk", "\tadd\tk"}) {
      assertThat(parser.parseLine(utf8(key), PLACE).isWellFormed()).isTrue();
    }
  }

  @Test
  void aUrlWithColumnsIsRefused() {
    Canonicaliser rule = Canonicaliser.URL;
    assertColumns(rule, "a.example\tmalware");
    assertColumns(rule, "\t\ta.example\tphishing\tsrc\t20260101");
    assertThat(linesOf(rule).parseLine(utf8("\ta.example\t "), PLACE).isWellFormed()).isTrue();
  }

  /** Version 1 of the rule would remove the tab; lines of hosts files and comments may have it. */
  @Test
  void aLineOfAListOfVersion1WithColumnsIsRefused() {
    Canonicaliser rule = Canonicaliser.of("url-expression-1");
    assertColumns(rule, "a.example\tmalware");
    for (String line : new String[] {"0.0.0.0\ta.example", "a.example\t# note", "# a\tb"}) {
      assertThat(linesOf(rule).parseLine(utf8(line), PLACE).isWellFormed()).isTrue();
    }
  }

  @Test
  void aUrlWithColumnsIsRefusedAlsoIfParametersAreStripped() {
    assertColumns(Canonicaliser.URL.stripping("utm_*"), "http://a.example/\tscore=10");
  }

  /** The rule of lists rejects columns itself. */
  @ParameterizedTest
  @ValueSource(strings = {"none", "text", "url-expression"})
  void otherKeysMayHaveTabs(String canonicaliser) {
    assertThat(
            linesOf(Canonicaliser.of(canonicaliser)).parseLine(utf8("a\tb"), PLACE).isWellFormed())
        .isTrue();
  }

  private static EventParser linesOf(Canonicaliser canonicaliser) {
    Clock clock = Clock.fixed(Instant.ofEpochMilli(NOW), ZoneOffset.UTC);
    return new EventParser(Duration.ofHours(1), clock, canonicaliser);
  }

  private static void assertColumns(Canonicaliser canonicaliser, String line) {
    assertMalformed(
        linesOf(canonicaliser).parseLine(utf8(line), PLACE),
        utf8(line),
        "the line has white space, as between columns or before a comment: pass only the column of"
            + " the key, as cut -f1 does (snapshot build: --column), and write a space of a URL as"
            + " %20");
  }

  @Test
  void aLineOf65536BytesIsTheLongest() {
    assertThat(parser.parseLine(new byte[65_536], PLACE).isWellFormed()).isTrue();
    byte[] longer = new byte[65_537];
    assertMalformed(
        parser.parseLine(longer, PLACE), longer, "key must be at most 65536 bytes, got 65537");
  }

  @Test
  void anEmptyLineIsAnEmptyKey() {
    assertMalformed(parser.parseLine(new byte[0], PLACE), new byte[0], "key is empty");
  }

  @ParameterizedTest
  @CsvSource({
    "abc\u00FF, 3", // no lead byte
    "ab\u00C0\u0080, 2", // overlong zero
    "\u00ED\u00A0\u0080, 0", // a surrogate
    "a\u00E2\u0082, 1", // cut short
    "\u00F4\u0090\u0080\u0080, 0", // beyond U+10FFFF
  })
  void textThatIsNotUtf8IsRefusedInEveryTextFormat(String latin1, int at) {
    byte[] key = latin1.getBytes(ISO_8859_1);
    assertMalformed(parser.parseLine(key, PLACE), key, NOT_UTF8 + at);
    byte[] tsv = ("1\tadd\t" + latin1).getBytes(ISO_8859_1);
    assertMalformed(parser.parseTsv(tsv, PLACE), tsv, NOT_UTF8 + (at + 6));
    byte[] json = ("{\"key\":\"" + latin1 + "\"}").getBytes(ISO_8859_1);
    assertThat(parser.parseJson(json, PLACE).problem()).startsWith(NOT_UTF8 + (at + 8));
  }

  // ---- tsv

  @Test
  void tsvHasTimeOperationAndKey() {
    assertThat(parser.parseTsv(utf8("1700000000\tadd\ta.example"), PLACE))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, utf8("a.example"), null, NOW, PLACE));
    assertThat(parser.parseTsv(utf8("0\tdel\ta\tb"), PLACE))
        .isEqualTo(SourceEvent.of(Operation.DELETE, null, utf8("a\tb"), null, 0, PLACE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"del", "delete"})
  void eitherWordDeletesInTsvAndJson(String word) {
    assertThat(parser.parseTsv(utf8("1\t" + word + "\tk"), PLACE))
        .isEqualTo(SourceEvent.of(Operation.DELETE, null, utf8("k"), null, 1000, PLACE));
    for (String key : new String[] {"k", "\\u006b"}) {
      byte[] json = utf8("{\"ts\":1,\"op\":\"" + word + "\",\"key\":\"" + key + "\"}");
      assertThat(parser.parseJson(json, PLACE))
          .isEqualTo(SourceEvent.of(Operation.DELETE, null, utf8("k"), json, 1, PLACE));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | line is not: epochSeconds TAB add|del TAB key",
        "1 | line is not: epochSeconds TAB add|del TAB key",
        "1\tadd | line is not: epochSeconds TAB add|del TAB key",
        "`1\tadd\t` | key is empty",
        "`\tadd\tk` | time is missing",
        "-5\tadd\tk | time must not be negative, got -5000 ms",
        "-\tadd\tk | time must be a whole number of seconds",
        "1.5\tadd\tk | time must be a whole number of seconds",
        "+1\tadd\tk | time must be a whole number of seconds",
        "9223372036854776\tadd\tk | time must be at most 9223372036854775 seconds",
        "99999999999999999999\tadd\tk | time must be at most 9223372036854775 seconds",
        "1700003601\tadd\tk"
            + " | time must be at most 3600000 ms ahead of the clock, got 3601000 ms ahead",
        "1\tdeleted\tk | op must be add or del, got 'deleted'",
        "1\tADD\tk | op must be add or del, got 'ADD'",
        "1\t\tk | op must be add or del, got ''",
      })
  void aMalformedTsvLineHasAReason(String line, String problem) {
    // The table's column ends at a pipe, which also cuts off the reason.
    SourceEvent event = parser.parseTsv(utf8(line), PLACE);
    assertThat(event.isWellFormed()).isFalse();
    assertThat(event.payload()).isEqualTo(utf8(line));
    assertThat(event.problem()).startsWith(problem);
  }

  @Test
  void aTimeExactlyTheBoundAheadIsAllowed() {
    assertThat(parser.parseTsv(utf8("1700003600\tadd\tk"), PLACE).isWellFormed()).isTrue();
  }

  // ---- JSON

  @Test
  void jsonHasTimeOperationKeyScopeAndAPayloadThatIsTheWhole() {
    byte[] json =
        utf8(
            " {\"x\":{\"key\":[1,{}]},\"ts\":12,\"op\":\"delete\",\"key\":\"k\\u00fc\",\"scope\":\"s\"} ");
    assertThat(parser.parseJson(json, PLACE))
        .isEqualTo(SourceEvent.of(Operation.DELETE, utf8("s"), utf8("kü"), json, 12, PLACE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"scope\":null", ",\"scope\":\"\""})
  void anAbsentNullOrEmptyScopeIsNone(String scope) {
    byte[] json = utf8("{\"ts\":1,\"op\":\"add\",\"key\":\"k\"" + scope + "}");
    assertThat(parser.parseJson(json, PLACE))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, utf8("k"), json, 1, PLACE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | malformed JSON: no value",
        "[1] | JSON is not an object",
        "null | JSON is not an object",
        "{ | malformed JSON: Unexpected end-of-input",
        "{'op':1} | malformed JSON: Unexpected character",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"k\"} {} | JSON continues after the value",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"k\"}x | malformed JSON: Unrecognized token 'x'",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"x\":NaN} | malformed JSON",
        "{\"op\":\"add\",\"key\":\"k\"} | ts is missing",
        "{\"ts\":null,\"op\":\"add\",\"key\":\"k\"} | ts must be a whole number of milliseconds",
        "{\"ts\":\"1\",\"op\":\"add\",\"key\":\"k\"} | ts must be a whole number of milliseconds",
        "{\"ts\":1.0,\"op\":\"add\",\"key\":\"k\"} | ts must be a whole number of milliseconds",
        "{\"ts\":1e3,\"op\":\"add\",\"key\":\"k\"} | ts must be a whole number of milliseconds",
        "{\"ts\":99999999999999999999,\"op\":\"add\",\"key\":\"k\"} | ts must have at most 64 "
            + "bits, got 99999999999999999999",
        "{\"ts\":-1,\"op\":\"add\",\"key\":\"k\"} | time must not be negative, got -1 ms",
        "{\"ts\":1700003600001,\"op\":\"add\",\"key\":\"k\"}"
            + " | time must be at most 3600000 ms ahead of the clock, got 3600001 ms ahead",
        "{\"ts\":1,\"key\":\"k\"} | op is missing",
        "{\"ts\":1,\"op\":\"dele\",\"key\":\"k\"} | op must be add or delete, got 'dele'",
        "{\"ts\":1,\"op\":\"a\\nb\",\"key\":\"k\"} | op must be add or delete, got 'a?b'",
        "{\"ts\":1,\"op\":1,\"key\":\"k\"} | op must be a string",
        "{\"ts\":1,\"op\":\"add\"} | key is missing",
        "{\"ts\":1,\"op\":\"add\",\"key\":null} | key must be a string",
        "{\"ts\":1,\"op\":\"add\",\"key\":5} | key must be a string",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"\"} | key is empty",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"scope\":{}} | scope must be a string",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"\\ud800\"} | key has an unpaired surrogate",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"scope\":\"\\udc00x\"}"
            + " | scope has an unpaired surrogate",
      })
  void malformedJsonHasAReason(String json, String problem) {
    SourceEvent event = parser.parseJson(utf8(json), PLACE);
    assertThat(event.isWellFormed()).isFalse();
    assertThat(event.payload()).isEqualTo(utf8(json));
    assertThat(event.problem()).startsWith(problem).doesNotContain("\n", "\t");
  }

  @Test
  void jsonInUtf16IsRefusedAlthoughJacksonWouldReadIt() {
    byte[] json = "{\"ts\":1,\"op\":\"add\",\"key\":\"k\"}".getBytes(UTF_16BE);
    assertThat(parser.parseJson(json, PLACE).problem()).isEqualTo("malformed JSON: byte 0 is zero");
  }

  @Test
  void jsonOfAnyDepthIsReadOrRefusedWithoutOverflow() {
    String deep = "[".repeat(200_000);
    byte[] json = utf8("{\"x\":" + deep + "]".repeat(200_000) + "}");
    assertThat(parser.parseJson(json, PLACE).problem()).startsWith("malformed JSON: ");
  }

  @Test
  void aKeyOrScopeThatIsTooLongIsRefused() {
    String tooLong = "x".repeat(65_537);
    byte[] key = utf8("{\"ts\":1,\"op\":\"add\",\"key\":\"" + tooLong + "\"}");
    assertMalformed(
        parser.parseJson(key, PLACE), key, "key must be at most 65536 bytes, got 65537");
    byte[] scope = utf8("{\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"scope\":\"" + tooLong + "\"}");
    assertMalformed(
        parser.parseJson(scope, PLACE), scope, "scope must be at most 65536 bytes, got 65537");
  }

  @ParameterizedTest
  @CsvSource({
    "978307199, true",
    "978307200, false",
    "1700000000, false",
    "4102444799, false",
    "4102444800, true",
    "1700000000000, true"
  })
  void aJsonTimeThatLooksLikeSecondsIsRefused(long ts, boolean isTaken) {
    byte[] json = utf8("{\"ts\":" + ts + ",\"op\":\"add\",\"key\":\"k\"}");
    SourceEvent event = parser.parseJson(json, PLACE);
    if (isTaken) {
      assertThat(event.timestampMillis()).isEqualTo(ts);
    } else {
      assertMalformed(
          event,
          json,
          "ts must be in milliseconds, "
              + ts
              + " looks like seconds: multiply it by 1000, or with --time-field add --time-unit"
              + " seconds");
    }
  }

  // ---- Kafka records with the key in the key

  @Test
  void aKeyedRecordAddsWithAValueAndDeletesWithout() {
    byte[] key = {(byte) 0xFF, 0, 1};
    byte[] value = {7};
    assertThat(parser.parseKeyed(key, value, 12, PLACE))
        .isEqualTo(SourceEvent.of(Operation.ADD, null, key, value, 12, PLACE));
    assertThat(parser.parseKeyed(key, null, 12, PLACE))
        .isEqualTo(SourceEvent.of(Operation.DELETE, null, key, null, 12, PLACE));
    assertThat(parser.parseKeyed(key, new byte[0], 12, PLACE).operation()).isEqualTo(Operation.ADD);
  }

  @Test
  void aKeyedRecordWithoutKeyOrTimeIsRefused() {
    byte[] key = {1};
    byte[] value = {7};
    assertMalformed(parser.parseKeyed(null, value, 12, PLACE), value, "key is missing");
    assertMalformed(parser.parseKeyed(null, null, 12, PLACE), null, "key is missing");
    assertMalformed(parser.parseKeyed(new byte[0], value, 12, PLACE), value, "key is empty");
    assertMalformed(parser.parseKeyed(key, value, -1, PLACE), value, "time is missing");
    assertMalformed(
        parser.parseKeyed(key, null, -2, PLACE), key, "time must not be negative, got -2 ms");
  }

  // ---- anything

  @Property(tries = 2000, seed = "17")
  void arbitraryBytesNeverThrow(@ForAll byte[] bytes) {
    assertUnderstoodOrRefused(bytes);
  }

  @Property(tries = 5000, seed = "18")
  void damagedRecordsNeverThrow(@ForAll long seed, @ForAll @Size(max = 4) byte[] noise) {
    Random random = new Random(seed);
    String whole =
        random.nextBoolean()
            ? "{\"ts\":1700000000000,\"op\":\"add\",\"key\":\"k\\u00e9é\",\"scope\":\"s\",\"n\":[1.5e3,true,{}]}"
            : "1700000000\tadd\thttp://ü.example/";
    byte[] bytes = utf8(whole);
    int from = random.nextInt(bytes.length);
    for (int i = 0; i < noise.length && from + i < bytes.length; i++) {
      bytes[from + i] = noise[i];
    }
    assertUnderstoodOrRefused(bytes);
  }

  private void assertUnderstoodOrRefused(byte[] bytes) {
    for (SourceEvent event :
        new SourceEvent[] {
          parser.parseLine(bytes, PLACE),
          parser.parseTsv(bytes, PLACE),
          parser.parseJson(bytes, PLACE),
          parser.parseKeyed(bytes, bytes, bytes.length, PLACE)
        }) {
      assertThat(event.place()).isEqualTo(PLACE);
      if (event.isWellFormed()) {
        assertThat(event.key().length).isBetween(1, 65_536);
        assertThat(event.timestampMillis()).isBetween(0L, NOW + 3_600_000);
      } else {
        assertThat(event.payload()).isEqualTo(bytes);
        assertThat(event.problem()).isNotBlank().doesNotContain("\n", "\r", "\t");
      }
    }
  }

  @Test
  void theParserTravels() throws Exception {
    EventParser travelled = InstantiationUtil.clone(parser);
    assertThat(travelled.parseLine(utf8("k"), PLACE)).isEqualTo(parser.parseLine(utf8("k"), PLACE));
  }
}
