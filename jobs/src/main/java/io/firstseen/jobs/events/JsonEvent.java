package io.firstseen.jobs.events;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.firstseen.types.Operation;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The fields of an event that is written as a JSON object. If a field is repeated, the last one
 * counts.
 */
final class JsonEvent {
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          // Field names with colliding hashes must not cause an exception.
          .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
          .build();

  private Operation operation;
  private String key;
  private String scope;
  private Long timestampMillis;

  private JsonEvent() {}

  static JsonEvent read(byte[] utf8) throws MalformedEventException {
    EventRules.checkUtf8(utf8);
    refuseOtherEncodings(utf8);
    JsonEvent event = new JsonEvent();
    try (JsonParser parser = FACTORY.createParser(utf8)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new MalformedEventException("JSON is not an object");
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        event.read(name, parser);
      }
      if (parser.nextToken() != null) {
        throw new MalformedEventException("JSON goes on after the object");
      }
    } catch (JsonProcessingException e) {
      throw new MalformedEventException("malformed JSON: " + Excerpt.of(e.getOriginalMessage()));
    } catch (IOException e) {
      throw new MalformedEventException("malformed JSON: " + Excerpt.of(String.valueOf(e)));
    }
    return event;
  }

  /** Jackson takes leading zero bytes as a sign of UTF-16 or UTF-32. */
  private static void refuseOtherEncodings(byte[] utf8) throws MalformedEventException {
    for (int i = 0; i < Math.min(4, utf8.length); i++) {
      if (utf8[i] == 0) {
        throw new MalformedEventException("malformed JSON: byte " + i + " is zero");
      }
    }
  }

  private void read(String name, JsonParser parser) throws IOException, MalformedEventException {
    switch (name) {
      case "op" -> operation = operation(text(name, parser));
      case "key" -> key = text(name, parser);
      case "scope" ->
          scope = parser.currentToken() == JsonToken.VALUE_NULL ? null : text(name, parser);
      case "ts" -> {
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
          throw new MalformedEventException("ts must be a whole number of milliseconds");
        }
        timestampMillis = parser.getLongValue();
      }
      default -> parser.skipChildren();
    }
  }

  private static String text(String name, JsonParser parser)
      throws IOException, MalformedEventException {
    if (parser.currentToken() != JsonToken.VALUE_STRING) {
      throw new MalformedEventException(name + " must be a string");
    }
    return parser.getText();
  }

  private static Operation operation(String op) throws MalformedEventException {
    return switch (op) {
      case "add" -> Operation.ADD;
      case "delete" -> Operation.DELETE;
      default ->
          throw new MalformedEventException(
              "op must be add or delete, got '" + Excerpt.of(op) + "'");
    };
  }

  Operation operation() throws MalformedEventException {
    return required("op", operation);
  }

  byte[] key() throws MalformedEventException {
    return EventRules.encode("key", required("key", key));
  }

  /** The scope, null if there is none. */
  byte @Nullable [] scope() throws MalformedEventException {
    return scope == null || scope.isEmpty() ? null : EventRules.encode("scope", scope);
  }

  long timestampMillis() throws MalformedEventException {
    return required("ts", timestampMillis);
  }

  private static <T> T required(String name, T value) throws MalformedEventException {
    if (value == null) {
      throw new MalformedEventException(name + " is missing");
    }
    return value;
  }
}
