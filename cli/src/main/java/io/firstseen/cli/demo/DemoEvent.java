package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.shared.Json;
import io.firstseen.types.Operation;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One event of the demo's stream, without its time.
 *
 * @param number the position in the stream, from 0
 * @param partition the partition of the events topic; the same for all events of a key
 * @param operation null if the event is malformed
 * @param url the canonical form of the key; null if the event is malformed
 * @param spelling the spelling of the key in this event; null if the event is malformed
 * @param malformed the value of the record of a malformed event, a character per byte; otherwise
 *     null
 */
record DemoEvent(
    int number,
    int partition,
    @Nullable Operation operation,
    @Nullable String url,
    @Nullable String spelling,
    @Nullable String malformed) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String NUMBER_FIELD = "n";

  static DemoEvent of(int number, int partition, Operation operation, String url, String spelling) {
    return new DemoEvent(number, partition, operation, url, spelling, null);
  }

  static DemoEvent malformed(int number, int partition, String value) {
    return new DemoEvent(number, partition, null, null, null, value);
  }

  boolean isMalformed() {
    return malformed != null;
  }

  /** The key of the Kafka record; null if the event is malformed. */
  byte @Nullable [] recordKey() {
    return isMalformed() ? null : url.getBytes(UTF_8);
  }

  byte[] recordValue(long timestampMillis) {
    if (isMalformed()) {
      return malformed.getBytes(ISO_8859_1);
    }
    return Json.line(
            Json.object()
                .put("ts", timestampMillis)
                .put("op", operation == Operation.ADD ? "add" : "delete")
                .put("key", spelling)
                .put(NUMBER_FIELD, number))
        .getBytes(UTF_8);
  }

  /**
   * The event's number in the value of a record, which the pipeline forwards unchanged.
   *
   * @throws IllegalArgumentException if the value has no number
   */
  static int numberIn(byte[] recordValue) {
    JsonNode number;
    try {
      number = JSON.readTree(recordValue).required(NUMBER_FIELD);
    } catch (IOException e) {
      throw new IllegalArgumentException("not an event of the demo", e);
    }
    if (!number.isInt()) {
      throw new IllegalArgumentException("an event without its number");
    }
    return number.intValue();
  }
}
