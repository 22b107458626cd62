package io.firstseen.jobs.shared;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * The path to a field of a value: a JSON pointer (RFC 6901).
 *
 * @param text the pointer as it was written, such as {@code /order/id}
 * @param tokens the field names and element indexes of the path; empty for the whole value
 */
public record FieldPointer(String text, List<String> tokens) implements Serializable {
  public FieldPointer {
    tokens = List.copyOf(tokens);
  }

  /**
   * Parses a pointer.
   *
   * @throws IllegalArgumentException if the text is not a pointer; the message completes a sentence
   */
  public static FieldPointer parse(String text) {
    boolean wellFormed = text.isEmpty() || text.charAt(0) == '/';
    for (int i = text.indexOf('~'); wellFormed && i >= 0; i = text.indexOf('~', i + 1)) {
      wellFormed =
          i + 1 < text.length() && (text.charAt(i + 1) == '0' || text.charAt(i + 1) == '1');
    }
    if (!wellFormed) {
      throw new IllegalArgumentException(
          "must be a JSON pointer, such as /id or /order/id, in which ~0 stands for ~ and ~1 for /,"
              + " got '"
              + text
              + "'");
    }
    List<String> tokens = new ArrayList<>();
    for (int from = 1; from <= text.length(); ) {
      int slash = text.indexOf('/', from);
      int to = slash < 0 ? text.length() : slash;
      tokens.add(text.substring(from, to).replace("~1", "/").replace("~0", "~"));
      from = to + 1;
    }
    return new FieldPointer(text, tokens);
  }

  @Override
  public String toString() {
    return text;
  }
}
