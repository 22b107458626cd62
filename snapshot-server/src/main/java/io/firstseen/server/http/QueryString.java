package io.firstseen.server.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a query, as bytes, because a key does not have to be text. Decoded like forms:
 * {@code %XX} is a byte, {@code +} is a space, any other character represents itself.
 */
public final class QueryString {
  private final @Nullable String repeatable;
  private final List<String> names;
  private final byte[][] values;
  private final List<byte[]> repeated = new ArrayList<>(0);

  private QueryString(@Nullable String repeatable, String[] names) {
    this.repeatable = repeatable;
    this.names = Arrays.asList(names);
    this.values = new byte[names.length][];
  }

  static QueryString parse(String query, @Nullable String repeatable, String... names)
      throws HttpFailure {
    QueryString parsed = new QueryString(repeatable, names);
    int start = 0;
    while (start < query.length()) {
      int end = query.indexOf('&', start);
      end = end < 0 ? query.length() : end;
      if (end > start) {
        parsed.add(query, start, end);
      }
      start = end + 1;
    }
    return parsed;
  }

  private void add(String query, int start, int end) throws HttpFailure {
    int equals = query.indexOf('=', start);
    int nameEnd = equals < 0 || equals > end ? end : equals;
    String name = new String(decode(query, start, nameEnd), StandardCharsets.UTF_8);
    if (name.equals(repeatable)) {
      repeated.add(decode(query, Math.min(nameEnd + 1, end), end));
      return;
    }
    int index = names.indexOf(name);
    if (index < 0) {
      // A misspelt "scope" would otherwise be ignored and lead to a wrong result.
      throw new HttpFailure(
          400,
          names.isEmpty()
              ? "there must be no parameters, got '" + name + "'"
              : "parameters must be among "
                  + String.join(", ", names)
                  + (repeatable == null ? "" : ", " + repeatable)
                  + "; got '"
                  + name
                  + "' (a & within a value is written %26)");
    }
    if (values[index] != null) {
      throw new HttpFailure(400, "the parameter '" + name + "' must be given once");
    }
    values[index] = decode(query, Math.min(nameEnd + 1, end), end);
  }

  /** Returns the value of a parameter; null if it was not given. */
  public byte @Nullable [] bytes(String name) {
    return values[names.indexOf(name)];
  }

  /**
   * Returns the value of a parameter.
   *
   * @throws HttpFailure with 400 if it was not given
   */
  public byte[] required(String name) throws HttpFailure {
    byte[] bytes = bytes(name);
    if (bytes == null) {
      throw new HttpFailure(400, "the parameter " + name + " must be given");
    }
    return bytes;
  }

  /** Returns the value of a parameter as text; null if it was not given. */
  public @Nullable String text(String name) {
    byte[] bytes = bytes(name);
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  /** Returns the values of the repeatable parameter as texts, in their order. */
  public List<String> repeated() {
    return repeated.stream().map(bytes -> new String(bytes, StandardCharsets.UTF_8)).toList();
  }

  private static byte[] decode(String text, int start, int end) throws HttpFailure {
    byte[] bytes = new byte[end - start];
    int length = 0;
    for (int i = start; i < end; i++) {
      char c = text.charAt(i);
      if (c == '%') {
        int high = digit(text, i + 1, end);
        int low = digit(text, i + 2, end);
        if (high < 0 || low < 0) {
          throw new HttpFailure(400, "a % in the query must be followed by two hexadecimal digits");
        }
        bytes[length++] = (byte) (high << 4 | low);
        i += 2;
      } else {
        // Netty decodes each byte to one character.
        bytes[length++] = (byte) (c == '+' ? ' ' : c);
      }
    }
    return Arrays.copyOf(bytes, length);
  }

  private static int digit(String text, int index, int end) {
    return index < end ? Character.digit(text.charAt(index), 16) : -1;
  }
}
