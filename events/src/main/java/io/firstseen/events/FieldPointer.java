package io.firstseen.events;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The path to a field of a value: a JSON pointer (RFC 6901).
 *
 * @param text the pointer as it was written, such as {@code /order/id}
 * @param tokens the field names and element indexes of the path; empty for the whole value
 */
public record FieldPointer(String text, List<String> tokens) implements Serializable {
  private static final Pattern WRONG_ESCAPE = Pattern.compile("~(?![01])");

  public FieldPointer {
    tokens = List.copyOf(tokens);
  }

  /**
   * Parses a pointer.
   *
   * @throws IllegalArgumentException if the text is not a pointer; the message completes a sentence
   */
  public static FieldPointer parse(String text) {
    if (!(text.isEmpty() || text.startsWith("/")) || WRONG_ESCAPE.matcher(text).find()) {
      throw new IllegalArgumentException(
          "must be a JSON pointer, such as /id or /order/id, in which ~0 stands for ~ and ~1 for /,"
              + " got '"
              + text
              + "'");
    }
    return new FieldPointer(
        text,
        Arrays.stream(text.split("/", -1))
            .skip(1)
            .map(token -> token.replace("~1", "/").replace("~0", "~"))
            .toList());
  }

  @Override
  public String toString() {
    return text;
  }
}
