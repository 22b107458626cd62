package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Records of a mebibyte, the most that a broker takes by default, made to cost: they are read or
 * become dead letters with all their bytes, and take no more memory than some times their length.
 */
class JsonBombsTest {
  private static final int BYTES = 1 << 20;
  private static final int FACTOR = 40;
  private static final Place PLACE = Place.of("in:7");

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final EventParser parser = new EventParser(Duration.ofHours(1), Clock.systemUTC());
  private final FieldParser fields =
      FieldParser.of(
          new EventFields(
              List.of(FieldPointer.parse("/key")),
              FieldPointer.parse("/ts"),
              TimeUnit.MILLISECONDS,
              FieldPointer.parse("/op"),
              Set.of("delete"),
              FieldPointer.parse("/scope")),
          ValueSchema.NONE,
          Duration.ofHours(1),
          Clock.systemUTC());

  private static String event(String more) {
    return "{\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"x\":" + more + "}";
  }

  private static String repeated(String text) {
    return text.repeat(BYTES / text.length());
  }

  private static byte[] bomb(String kind) {
    String json =
        switch (kind) {
          case "arrays" -> event(repeated("["));
          case "objects" -> event(repeated("{\"\":"));
          case "closed arrays" -> event("[".repeat(BYTES / 2) + "]".repeat(BYTES / 2));
          case "whole number" -> event("1" + repeated("0"));
          case "fraction" -> event("0." + repeated("1"));
          case "exponent" -> event("1e" + repeated("9"));
          case "time" -> "{\"op\":\"add\",\"key\":\"k\",\"ts\":1" + repeated("0") + "}";
          case "time with exponent" -> "{\"op\":\"add\",\"key\":\"k\",\"ts\":1e999999999}";
          case "string" -> event("\"" + repeated("a") + "\"");
          case "escaped string" -> event("\"" + repeated("\\u0041") + "\"");
          case "string without end" -> event("\"" + repeated("\\u0041"));
          case "name" -> "{\"" + repeated("n") + "\":1,\"ts\":1,\"op\":\"add\",\"key\":\"k\"}";
          case "repeated names" ->
              "{" + repeated("\"key\":\"a\",") + "\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"x\":[]}";
          case "other names" -> "{" + names() + "\"ts\":1,\"op\":\"add\",\"key\":\"k\",\"x\":[]}";
          case "key" -> "{\"ts\":1,\"op\":\"add\",\"key\":\"" + repeated("\\u0041") + "\"}";
          case "operation" -> "{\"ts\":1,\"key\":\"k\",\"op\":\"" + repeated("o") + "\"}";
          default -> throw new AssertionError(kind);
        };
    return json.getBytes(UTF_8);
  }

  private static String names() {
    return IntStream.range(0, BYTES / 12)
        .mapToObj(i -> "\"n" + (100_000 + i) + "\":0,")
        .collect(Collectors.joining());
  }

  @ParameterizedTest
  @CsvSource({
    "arrays, malformed JSON: Document nesting depth (",
    "objects, malformed JSON: Document nesting depth (",
    "closed arrays, malformed JSON: Document nesting depth (",
    "whole number, malformed JSON: Number value length (",
    "fraction, malformed JSON: Number value length (",
    "exponent, malformed JSON: Number value length (",
    "time, malformed JSON: Number value length (",
    "time with exponent, ts must be a whole number of milliseconds",
    "string, ",
    "escaped string, ",
    "string without end, malformed JSON: Unexpected end-of-input",
    "name, malformed JSON: Name length (",
    "repeated names, ",
    "other names, ",
    "key, 'key must be at most 65536 bytes, got '",
    "operation, 'op must be add or delete, got '",
  })
  void costNoMoreThanTheirLength(String kind, String problem) {
    byte[] bomb = bomb(kind);
    // Once beforehand, so that loading classes does not count.
    parser.parseJson(bomb, PLACE);
    long before = threads.getCurrentThreadAllocatedBytes();
    SourceEvent event = parser.parseJson(bomb, PLACE);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated).isLessThan(FACTOR * (long) BYTES);
    if (problem == null) {
      assertThat(event.isWellFormed()).isTrue();
      assertThat(event.key()).isEqualTo(new byte[] {'k'});
    } else {
      assertThat(event.problem()).startsWith(problem).hasSizeLessThan(600);
      assertThat(event.payload()).isEqualTo(bomb);
    }
    SourceEvent byFields = fields.parse(bomb, 1, PLACE);
    assertThat(byFields.isWellFormed()).isEqualTo(event.isWellFormed() || kind.equals("operation"));
  }
}
