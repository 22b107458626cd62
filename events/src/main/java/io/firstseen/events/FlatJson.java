package io.firstseen.events;

import io.firstseen.types.Operation;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A fast path for typical JSON events: ASCII objects that contain only strings without escapes and
 * non-negative whole numbers. All other input is left to the general parser.
 */
final class FlatJson {
  private static final int END = -1;
  private static final int NOT_FLAT = -1;
  // A general parser has limits for these.
  private static final int MAX_CHARACTERS_OF_NAME = 1_000;
  private static final int MAX_DIGITS = 18;

  private final byte[] json;
  private int at;

  private FlatJson(byte[] json) {
    this.json = json;
  }

  /**
   * Parses an event; returns null if the fast path does not apply, or if the text is not an event.
   */
  static @Nullable JsonEvent read(byte[] json) {
    return new FlatJson(json).event();
  }

  private @Nullable JsonEvent event() {
    Operation operation = null;
    byte[] key = null;
    byte[] scope = null;
    long timestampMillis = NOT_FLAT;
    if (next() != '{') {
      return null;
    }
    int separator;
    do {
      int name = next() == '"' ? at : NOT_FLAT;
      int nameEnd = name == NOT_FLAT ? NOT_FLAT : stringEnd();
      if (nameEnd == NOT_FLAT || nameEnd - name > MAX_CHARACTERS_OF_NAME || next() != ':') {
        return null;
      }
      int first = next();
      if (first == '"') {
        int from = at;
        int to = stringEnd();
        if (to == NOT_FLAT || is("ts", name, nameEnd)) {
          return null;
        } else if (is("key", name, nameEnd)) {
          key = Arrays.copyOfRange(json, from, to);
        } else if (is("op", name, nameEnd)) {
          operation = operation(from, to);
          if (operation == null) {
            return null;
          }
        } else if (is("scope", name, nameEnd)) {
          scope = from == to ? null : Arrays.copyOfRange(json, from, to);
        }
      } else {
        long number = number(first);
        if (number == NOT_FLAT
            || is("key", name, nameEnd)
            || is("op", name, nameEnd)
            || is("scope", name, nameEnd)) {
          return null;
        } else if (is("ts", name, nameEnd)) {
          timestampMillis = number;
        }
      }
      separator = next();
    } while (separator == ',');
    boolean whole = separator == '}' && next() == END;
    return whole && operation != null && key != null && timestampMillis != NOT_FLAT
        ? new JsonEvent(operation, scope, key, timestampMillis)
        : null;
  }

  /** The next byte that is not white space, or the end. */
  private int next() {
    while (at < json.length) {
      byte next = json[at++];
      if (next != ' ' && next != '\n' && next != '\r' && next != '\t') {
        return Byte.toUnsignedInt(next);
      }
    }
    return END;
  }

  /** Moves behind the closing quote of a string, and returns the quote's position. */
  private int stringEnd() {
    for (int i = at; i < json.length; i++) {
      byte next = json[i];
      if (next == '"') {
        at = i + 1;
        return i;
      }
      // Non-ASCII bytes are negative.
      if (next < ' ' || next == '\\') {
        return NOT_FLAT;
      }
    }
    return NOT_FLAT;
  }

  private long number(int first) {
    int from = at;
    long number = (long) first - '0';
    if (number < 0 || number > 9) {
      return NOT_FLAT;
    }
    while (at < json.length && json[at] >= '0' && json[at] <= '9') {
      number = 10 * number + (json[at++] - '0');
    }
    int more = at - from;
    return more >= MAX_DIGITS || (more > 0 && first == '0') ? NOT_FLAT : number;
  }

  private boolean is(String name, int from, int to) {
    if (name.length() != to - from) {
      return false;
    }
    for (int i = 0; i < name.length(); i++) {
      if (json[from + i] != name.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** The operation; null if it is unknown. */
  private @Nullable Operation operation(int from, int to) {
    if (is("add", from, to)) {
      return Operation.ADD;
    }
    return is("delete", from, to) || is("del", from, to) ? Operation.DELETE : null;
  }
}
