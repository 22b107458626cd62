package io.firstseen.jobs.events;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.firstseen.jobs.shared.FieldPointer;
import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Fields of JSON values. Of a repeated field the last counts; what no pointer names is skipped. */
final class JsonFields implements ValueFields {
  private static final long serialVersionUID = 1;

  private final Node root = new Node();
  private final int count;

  JsonFields(List<FieldPointer> pointers) {
    this.count = pointers.size();
    for (int i = 0; i < count; i++) {
      Node node = root;
      for (String token : pointers.get(i).tokens()) {
        node = node.children.computeIfAbsent(token, unused -> new Node());
      }
      node.places.add(i);
    }
  }

  @Override
  public FieldValue[] read(byte[] utf8) throws MalformedEventException {
    EventRules.checkUtf8(utf8);
    JsonEvent.refuseOtherEncodings(utf8);
    FieldValue[] found = new FieldValue[count];
    Arrays.fill(found, FieldValue.MISSING);
    try (JsonParser parser = JsonEvent.FACTORY.createParser(utf8)) {
      if (parser.nextToken() == null) {
        throw new MalformedEventException("malformed JSON: there is no value");
      }
      root.read(parser, found);
      if (parser.nextToken() != null) {
        throw new MalformedEventException("JSON goes on after the value");
      }
    } catch (JsonProcessingException e) {
      throw new MalformedEventException("malformed JSON: " + Excerpt.of(e.getOriginalMessage()));
    } catch (IOException e) {
      throw new MalformedEventException("malformed JSON: " + Excerpt.of(String.valueOf(e)));
    }
    return found;
  }

  /** What pointers that begin alike name. Recursion is as deep as the longest pointer. */
  private static final class Node implements Serializable {
    private static final long serialVersionUID = 1;

    private final HashMap<String, Node> children = new HashMap<>();
    private final ArrayList<Integer> places = new ArrayList<>();

    void read(JsonParser parser, FieldValue[] found) throws IOException {
      JsonToken token = parser.currentToken();
      if (!places.isEmpty()) {
        set(found, value(token, parser));
      }
      if (children.isEmpty()) {
        parser.skipChildren();
      } else if (token == JsonToken.START_OBJECT) {
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          Node child = children.get(parser.currentName());
          parser.nextToken();
          readOrSkip(child, parser, found);
        }
      } else if (token == JsonToken.START_ARRAY) {
        for (int i = 0; parser.nextToken() != JsonToken.END_ARRAY; i++) {
          readOrSkip(children.get(Integer.toString(i)), parser, found);
        }
      }
    }

    private static void readOrSkip(Node child, JsonParser parser, FieldValue[] found)
        throws IOException {
      if (child == null) {
        parser.skipChildren();
      } else {
        child.clear(found);
        child.read(parser, found);
      }
    }

    /** Forgets an earlier field of the same name, with all that was in it. */
    private void clear(FieldValue[] found) {
      set(found, FieldValue.MISSING);
      for (Map.Entry<String, Node> child : children.entrySet()) {
        child.getValue().clear(found);
      }
    }

    private void set(FieldValue[] found, FieldValue value) {
      for (int place : places) {
        found[place] = value;
      }
    }

    private static FieldValue value(JsonToken token, JsonParser parser) throws IOException {
      return switch (token) {
        case START_OBJECT -> FieldValue.OBJECT;
        case START_ARRAY -> FieldValue.ARRAY;
        case VALUE_STRING -> FieldValue.string(parser.getText());
        case VALUE_NUMBER_INT -> FieldValue.wholeNumber(parser.getText());
        case VALUE_NUMBER_FLOAT -> FieldValue.number(parser.getText());
        case VALUE_TRUE -> FieldValue.bool(true);
        case VALUE_FALSE -> FieldValue.bool(false);
        default -> FieldValue.NULL;
      };
    }
  }
}
