package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.serializers.Place;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kinds of the parser's problems. */
class ProblemKindTest {
  private final EventParser parser = new EventParser(Duration.ofHours(1), Clock.systemUTC());

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "99999999999\tadd\tk | TOO_FAR_AHEAD",
        "-5\tadd\tk | BAD_TIME",
        "`\tadd\tk` | BAD_TIME",
        "1.5\tadd\tk | BAD_TIME",
        "99999999999999999999\tadd\tk | BAD_TIME",
        "`1\tadd\t` | BAD_KEY",
        "1\tmove\tk | MALFORMED",
        "1\ttime  ahead of the clock\tk | MALFORMED",
        "k | MALFORMED",
        "`` | MALFORMED",
      })
  void ofLines(String line, ProblemKind kind) {
    assertThat(ProblemKind.of(parser.parseTsv(line.getBytes(UTF_8), Place.of("in:1")).problem()))
        .isEqualTo(kind);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"ts\":99999999999999,\"op\":\"add\",\"key\":\"k\"} | TOO_FAR_AHEAD",
        "{\"ts\":-1,\"op\":\"add\",\"key\":\"k\"} | BAD_TIME",
        "{\"ts\":1700000000,\"op\":\"add\",\"key\":\"k\"} | BAD_TIME",
        "{\"ts\":\"1\",\"op\":\"add\",\"key\":\"k\"} | BAD_TIME",
        "{\"op\":\"add\",\"key\":\"k\"} | BAD_TIME",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"\"} | BAD_KEY",
        "{\"ts\":1,\"op\":\"add\",\"key\":7} | BAD_KEY",
        "{\"ts\":1,\"op\":\"add\"} | BAD_KEY",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"scope\":7} | BAD_KEY",
        "{\"ts\":1,\"op\":\"add\",\"key\":\"\\uD800\"} | BAD_KEY",
        "{\"ts\":1,\"op\":\"ahead of the clock\",\"key\":\"k\"} | MALFORMED",
        "{\"ts\":1,\"key\":\"k\"} | MALFORMED",
        "[] | MALFORMED",
        "{} {} | MALFORMED",
        "{\"time  ahead of the clock | MALFORMED",
      })
  void ofObjects(String json, ProblemKind kind) {
    assertThat(ProblemKind.of(parser.parseJson(json.getBytes(UTF_8), Place.of("in:1")).problem()))
        .isEqualTo(kind);
  }

  @Test
  void ofRecords() {
    byte[] key = {1};
    assertThat(ProblemKind.of(parser.parseKeyed(null, null, 1, Place.of("t-0@1")).problem()))
        .isEqualTo(ProblemKind.BAD_KEY);
    assertThat(
            ProblemKind.of(
                parser.parseKeyed(new byte[65_537], null, 1, Place.of("t-0@1")).problem()))
        .isEqualTo(ProblemKind.BAD_KEY);
    assertThat(ProblemKind.of(parser.parseKeyed(key, null, -1, Place.of("t-0@1")).problem()))
        .isEqualTo(ProblemKind.BAD_TIME);
    assertThat(ProblemKind.of(parser.parseChange(key, null, -7, Place.of("t-0@1")).problem()))
        .isEqualTo(ProblemKind.BAD_TIME);
    assertThat(ProblemKind.of(parser.parseChange(null, null, 1, Place.of("t-0@1")).problem()))
        .isEqualTo(ProblemKind.BAD_KEY);
    assertThat(
            ProblemKind.of(
                parser.parseChange(key, null, Long.MAX_VALUE, Place.of("t-0@1")).problem()))
        .isEqualTo(ProblemKind.TOO_FAR_AHEAD);
  }
}
