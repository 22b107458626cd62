package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.types.Operation;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/** One event of the demo's stream, without its time. */
final class DemoEvent {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String NUMBER_FIELD = "n";

  private final int number;
  private final int partition;
  private final Operation operation;
  private final String url;
  private final String spelling;
  private final byte[] malformed;

  private DemoEvent(
      int number,
      int partition,
      Operation operation,
      String url,
      String spelling,
      byte[] malformed) {
    this.number = number;
    this.partition = partition;
    this.operation = operation;
    this.url = url;
    this.spelling = spelling;
    this.malformed = malformed;
  }

  /**
   * Makes a well-formed event.
   *
   * @param number its place in the stream, from 0
   * @param partition the partition of the events topic; the same for all events of a key
   * @param url the key in the form that all its spellings share
   * @param spelling the key as this event spells it
   */
  static DemoEvent of(int number, int partition, Operation operation, String url, String spelling) {
    return new DemoEvent(number, partition, operation, url, spelling, null);
  }

  /** Makes a malformed event, whose record's value is {@code bytes}. */
  static DemoEvent malformed(int number, int partition, byte[] bytes) {
    return new DemoEvent(number, partition, null, null, null, bytes);
  }

  int number() {
    return number;
  }

  int partition() {
    return partition;
  }

  boolean isMalformed() {
    return malformed != null;
  }

  /** The operation; null if the event is malformed. */
  @Nullable Operation operation() {
    return operation;
  }

  /** The key in the form that all its spellings share; null if the event is malformed. */
  @Nullable String url() {
    return url;
  }

  /** The key as this event spells it; null if the event is malformed. */
  @Nullable String spelling() {
    return spelling;
  }

  /** The key of the Kafka record; null if the event is malformed. */
  byte @Nullable [] recordKey() {
    return isMalformed() ? null : url.getBytes(UTF_8);
  }

  /** The value of the Kafka record. */
  byte[] recordValue(long timestampMillis) {
    if (isMalformed()) {
      return malformed;
    }
    try {
      return JSON.writeValueAsBytes(
          JSON.createObjectNode()
              .put("ts", timestampMillis)
              .put("op", operation == Operation.ADD ? "add" : "delete")
              .put("key", spelling)
              .put(NUMBER_FIELD, number));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The event's number in a record's value, which the pipeline passes on unchanged.
   *
   * @throws IllegalArgumentException if there is none
   */
  static int numberIn(byte[] recordValue) {
    JsonNode field;
    try {
      field = JSON.readTree(recordValue).get(NUMBER_FIELD);
    } catch (IOException e) {
      throw new IllegalArgumentException("not an event of the demo", e);
    }
    if (field == null || !field.isInt()) {
      throw new IllegalArgumentException("an event without its number");
    }
    return field.intValue();
  }
}
