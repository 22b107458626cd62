package io.firstseen.cli.shared;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Named values in order, printed as a table for people or as one JSON object for programs. */
public final class Fields {
  private final StringBuilder table = new StringBuilder();
  private final ObjectNode json = Json.object();

  /** Adds a text with the same form in the table and in JSON; nothing for null. */
  public Fields put(String title, String name, @Nullable String value) {
    return put(title, name, value, value);
  }

  /** Adds a number, with separators between thousands in the table. */
  public Fields put(String title, String name, long number) {
    return put(title, name, number, SnapshotSummary.number(number));
  }

  /** Adds a value whose form in the table is {@code text}; nothing if the value is null. */
  public Fields put(String title, String name, @Nullable Object value, @Nullable Object text) {
    return value == null ? this : row(title, text).json(name, value);
  }

  /** Adds a line to the table only. */
  public Fields row(String title, Object text) {
    return text(String.format(Locale.ROOT, "%-20s%s%n", title, text));
  }

  /** Adds lines to the table only, each of which ends with a line feed. */
  public Fields text(String lines) {
    table.append(lines);
    return this;
  }

  /** Adds a value to the JSON object only; nothing for null. */
  public Fields json(String name, @Nullable Object value) {
    if (value != null) {
      json.set(name, Json.of(value));
    }
    return this;
  }

  /** Adds fields under a heading in the table and as an object in JSON. */
  public Fields section(String heading, String name, Fields fields) {
    String separator = table.isEmpty() ? "" : "%n";
    return text(String.format(separator + "%s%n", heading))
        .text(fields.table())
        .json(name, fields.json);
  }

  /** The lines of the table, each ending with a line feed. */
  public String table() {
    return table.toString();
  }

  /** The fields as a JSON object, which the caller may extend. */
  public ObjectNode json() {
    return json;
  }

  /** Prints the JSON object or the table. */
  public void print(PrintWriter out, boolean asJson) {
    if (asJson) {
      out.println(Json.line(json));
    } else {
      out.print(table);
    }
  }
}
