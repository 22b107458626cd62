package io.firstseen.jobs.events;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.firstseen.types.Operation;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * An event in the form of a JSON object. If a field is repeated, the last value counts.
 *
 * @param scope the scope; null for no scope
 */
// Never compared.
@SuppressWarnings("ArrayRecordComponent")
record JsonEvent(Operation operation, byte @Nullable [] scope, byte[] key, long timestampMillis) {
  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          // Field names with colliding hashes must not cause an exception.
          .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
          .build();

  static JsonEvent read(byte[] utf8) throws MalformedEventException {
    JsonEvent flat = FlatJson.read(utf8);
    return flat == null ? readAny(utf8) : flat;
  }

  /** Parses an object with the general parser. */
  static JsonEvent readAny(byte[] utf8) throws MalformedEventException {
    EventRules.checkUtf8(utf8);
    refuseOtherEncodings(utf8);
    Fields fields = new Fields();
    try (JsonParser parser = FACTORY.createParser(utf8)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new MalformedEventException("JSON is not an object");
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        fields.read(name, parser);
      }
      if (parser.nextToken() != null) {
        throw new MalformedEventException("JSON continues after the object");
      }
    } catch (JsonProcessingException e) {
      throw new MalformedEventException("malformed JSON: " + Excerpt.of(e.getOriginalMessage()));
    } catch (IOException e) {
      throw new MalformedEventException("malformed JSON: " + Excerpt.of(String.valueOf(e)));
    }
    return fields.event();
  }

  /** Jackson interprets leading zero bytes as UTF-16 or UTF-32. */
  static void refuseOtherEncodings(byte[] utf8) throws MalformedEventException {
    for (int i = 0; i < Math.min(4, utf8.length); i++) {
      if (utf8[i] == 0) {
        throw new MalformedEventException("malformed JSON: byte " + i + " is zero");
      }
    }
  }

  private static final class Fields {
    private @Nullable Operation operation;
    private @Nullable String key;
    private @Nullable String scope;
    private @Nullable Long timestampMillis;

    void read(String name, JsonParser parser) throws IOException, MalformedEventException {
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

    JsonEvent event() throws MalformedEventException {
      Operation givenOperation = required("op", operation);
      byte[] keyBytes = EventRules.encode("key", required("key", key));
      byte[] scopeBytes =
          scope == null || scope.isEmpty() ? null : EventRules.encode("scope", scope);
      return new JsonEvent(givenOperation, scopeBytes, keyBytes, required("ts", timestampMillis));
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
        case "delete", "del" -> Operation.DELETE;
        default ->
            throw new MalformedEventException(
                "op must be add or delete, got '" + Excerpt.of(op) + "'");
      };
    }

    private static <T> T required(String name, @Nullable T value) throws MalformedEventException {
      if (value == null) {
        throw new MalformedEventException(name + " is missing");
      }
      return value;
    }
  }
}
