package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against the general parser, which decides what an event is. */
class FlatJsonTest {
  private static final long SEED = 20261125;
  private static final int TRIES = 80_000 * Integer.getInteger("firstseen.scale", 1);
  private static final String EVENT = "{\"ts\":12,\"op\":\"add\",\"key\":\"k\"}";

  @ParameterizedTest
  @ValueSource(
      strings = {
        EVENT,
        " { \"ts\"\t:\n12 ,\r\"op\":\"add\",\"key\":\"k\"} \n",
        "{\"key\":\"a\",\"op\":\"delete\",\"key\":\"k\",\"ts\":7,\"op\":\"add\",\"ts\":12,\"x\":\"y\",\"\":0}",
        "{\"scope\":\"\",\"op\":\"add\",\"n\":999999999999999999,\"ts\":12,\"key\":\"k\"}",
      })
  void theUsualFormIsRead(String json) throws Exception {
    assertThat(text(FlatJson.read(utf8(json)))).isEqualTo("ADD null k 12");
    assertThat(text(JsonEvent.readAny(utf8(json)))).isEqualTo("ADD null k 12");
  }

  @Test
  void everyFieldIsRead() {
    byte[] json = utf8("{\"op\":\"delete\",\"scope\":\"s\",\"ts\":0,\"key\":\"\u007fk\"}");
    assertThat(text(FlatJson.read(json))).isEqualTo("DELETE s \u007fk 0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[1]",
        "{\"ts\":12,\"op\":\"add\"}",
        "{\"ts\":12,\"key\":\"k\"}",
        "{\"op\":\"add\",\"key\":\"k\"}",
        EVENT + "x",
        EVENT + EVENT,
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k\",}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k\"",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k",
        "{\"ts\":012,\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":-12,\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":12.0,\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":1000000000000000000,\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":99999999999999999999999,\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":\"12\",\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":12,\"op\":\"remove\",\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":12,\"op\":1,\"op\":\"add\",\"key\":\"k\"}",
        "{\"ts\":12,\"op\":\"add\",\"key\":5,\"key\":\"k\"}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k\",\"scope\":5}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k\",\"scope\":null}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k\",\"x\":{}}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"\\u006b\"}",
        "{\"ts\":12,\"op\":\"add\",\"ke\\u0079\":\"k\"}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k\n\"}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"ü\"}",
        "{\"ts\":12,\"op\":\"add\",\"key\":\"k\" \"x\":1}",
        "\u0000" + EVENT,
        "\uFEFF" + EVENT,
      })
  void theGeneralParserDecidesOnAllTheRest(String json) {
    assertThat(FlatJson.read(utf8(json))).isNull();
  }

  @Test
  void aByteThatIsNoAsciiIsNoEnd() {
    byte[] json = Arrays.copyOf(utf8(EVENT), EVENT.length() + 1);
    json[EVENT.length()] = (byte) 0xFF;
    assertThat(FlatJson.read(json)).isNull();
  }

  @Test
  void whatIsReadIsWhatTheGeneralParserReads() throws Exception {
    Random random = new Random(SEED);
    int flat = 0;
    int general = 0;
    for (int i = 0; i < TRIES; i++) {
      byte[] json = damaged(random, event(random));
      String read = text(FlatJson.read(json));
      String expected;
      try {
        expected = text(JsonEvent.readAny(json));
        general++;
      } catch (MalformedEventException e) {
        expected = null;
      }
      if (read != null) {
        flat++;
        if (!read.equals(expected)) {
          assertThat(read).as(new String(json, UTF_8)).isEqualTo(expected);
        }
      }
    }
    assertThat(general).isBetween(TRIES / 4, TRIES * 3 / 4);
    assertThat(flat).isGreaterThan(general / 3);
  }

  /** The fields, some of them often missing, repeated or of another type. */
  private static String event(Random random) {
    List<String> fields = new ArrayList<>();
    add(fields, random, "\"ts\"", "1700000000000", "0", "-1", "01", "1.5", "\"1\"", "null");
    add(fields, random, "\"op\"", "\"add\"", "\"delete\"", "\"\"", "1", "\"a\\u0064d\"");
    add(fields, random, "\"key\"", "\"http://a.example/\"", "\"\"", "\"é\"", "\"\\n\"", "[]");
    if (random.nextInt(3) == 0) {
      add(fields, random, "\"scope\"", "\"s\"", "\"\"", "null", "7");
    }
    if (random.nextInt(3) == 0) {
      add(fields, random, "\"tsx\"", "\"s\"", "12345678901234567890", "true", "{\"ts\":1}");
    }
    if (random.nextInt(9) == 0) {
      fields.add(fields.get(random.nextInt(fields.size())));
    }
    Collections.shuffle(fields, random);
    String space = random.nextInt(4) == 0 ? " " : "";
    return space + "{" + String.join("," + space, fields) + space + "}";
  }

  private static void add(List<String> fields, Random random, String name, String... values) {
    boolean usual = random.nextInt(9) != 0;
    fields.add(name + ":" + values[usual ? 0 : random.nextInt(values.length)]);
  }

  private static byte[] damaged(Random random, String json) {
    byte[] bytes = utf8(json);
    if (random.nextInt(3) == 0) {
      String noise = "\"\\{}[]:,0 -.ae\n\u0000\u007f";
      int at = random.nextInt(bytes.length);
      bytes[at] =
          random.nextInt(9) == 0
              ? (byte) random.nextInt()
              : (byte) noise.charAt(random.nextInt(noise.length()));
    }
    return random.nextInt(9) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
  }

  private static @Nullable String text(@Nullable JsonEvent event) {
    if (event == null) {
      return null;
    }
    byte[] scope = event.scope();
    return event.operation()
        + " "
        + (scope == null ? null : new String(scope, UTF_8))
        + " "
        + new String(event.key(), UTF_8)
        + " "
        + event.timestampMillis();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }
}
