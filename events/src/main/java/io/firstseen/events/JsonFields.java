package io.firstseen.events;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.List;

/** Fields of JSON values; the last of repeated fields counts, and other fields are skipped. */
final class JsonFields extends ValueFields {
  private static final long serialVersionUID = 1;

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          // Field names with colliding hashes must not cause an exception.
          .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
          .build();

  JsonFields(List<FieldPointer> pointers) {
    super(pointers);
  }

  @Override
  FieldValue[] read(byte[] utf8) throws MalformedEventException {
    EventRules.checkUtf8(utf8);
    refuseOtherEncodings(utf8);
    FieldValue[] found = nothing();
    try (JsonParser parser = FACTORY.createParser(utf8)) {
      if (parser.nextToken() == null) {
        throw new MalformedEventException("malformed JSON: no value");
      }
      read(parser, root, found);
      if (parser.nextToken() != null) {
        throw new MalformedEventException("JSON continues after the value");
      }
    } catch (JsonProcessingException e) {
      throw new MalformedEventException(
          "malformed JSON: " + EventRules.excerpt(e.getOriginalMessage()));
    } catch (IOException e) {
      throw new MalformedEventException("malformed JSON: " + EventRules.excerpt(String.valueOf(e)));
    }
    return found;
  }

  /** Jackson interprets leading zero bytes as UTF-16 or UTF-32. */
  private static void refuseOtherEncodings(byte[] utf8) throws MalformedEventException {
    for (int i = 0; i < Math.min(4, utf8.length); i++) {
      if (utf8[i] == 0) {
        throw new MalformedEventException("malformed JSON: byte " + i + " is zero");
      }
    }
  }

  /** The recursion depth is bounded by the longest pointer. */
  private static void read(JsonParser parser, FieldNode node, FieldValue[] found)
      throws IOException {
    node.clear(found);
    JsonToken token = parser.currentToken();
    if (node.isNamed()) {
      node.set(found, value(token, parser));
    }
    if (!node.hasChildren()) {
      parser.skipChildren();
    } else if (token == JsonToken.START_OBJECT) {
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        FieldNode child = node.child(parser.currentName());
        parser.nextToken();
        read(parser, child, found);
      }
    } else if (token == JsonToken.START_ARRAY) {
      for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
        read(parser, node.child(i), found);
      }
    }
  }

  private static FieldValue value(JsonToken token, JsonParser parser) throws IOException {
    return switch (token) {
      case START_OBJECT -> FieldValue.OBJECT;
      case START_ARRAY -> FieldValue.ARRAY;
      case VALUE_STRING -> FieldValue.of(FieldValue.Kind.STRING, parser.getText());
      case VALUE_NUMBER_INT -> FieldValue.of(FieldValue.Kind.WHOLE_NUMBER, parser.getText());
      case VALUE_NUMBER_FLOAT -> FieldValue.of(FieldValue.Kind.NUMBER, parser.getText());
      case VALUE_TRUE, VALUE_FALSE -> FieldValue.of(FieldValue.Kind.BOOLEAN, parser.getText());
      default -> FieldValue.NULL;
    };
  }
}
