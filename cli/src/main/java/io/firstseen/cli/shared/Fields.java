package io.firstseen.cli.shared;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Named values in order, printed as a table for people or as one JSON object for programs. */
public final class Fields {
  private static final String[] BYTE_UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

  private final StringBuilder table = new StringBuilder();
  private final ObjectNode json = Json.object();

  /** Adds a text that is the same in the table and in JSON; ignores null. */
  public Fields put(String title, String name, @Nullable String value) {
    return put(title, name, value, value);
  }

  /** Adds a number, with separators between thousands in the table. */
  public Fields put(String title, String name, long number) {
    return put(title, name, number, number(number));
  }

  /** Adds a value that the table shows as {@code text}; ignores null. */
  public Fields put(String title, String name, @Nullable Object value, @Nullable Object text) {
    return value == null ? this : row(title, text).json(name, value);
  }

  /** Adds a time, in milliseconds in JSON; ignores null. */
  public Fields putTime(String title, String name, @Nullable Long millis) {
    return millis == null ? this : put(title, name, millis, Instant.ofEpochMilli(millis));
  }

  /** Adds a rate, with four digits in the table. */
  public Fields putRate(String title, String name, double rate) {
    return put(title, name, rate, rate(rate));
  }

  /** Adds seconds, with three decimals in the table. */
  public Fields putSeconds(String title, String name, double seconds) {
    return put(title, name, seconds, SnapshotSummary.decimal(seconds));
  }

  /** Adds a size in bytes, with a unit in the table. */
  public Fields putBytes(String title, String name, double bytes) {
    return put(title, name, bytes, bytes(bytes));
  }

  public Fields putKeyCheck(long keyCheck, boolean isPublic) {
    String digits = HexFormat.of().toHexDigits(keyCheck);
    return put("key check", "keyCheck", digits, digits + (isPublic ? " (the public key)" : ""))
        .json("publicHashKey", isPublic);
  }

  /** Adds a canonicaliser; {@code stripped} are the parameters that it strips, or empty. */
  public Fields putCanonicaliser(String id, int version, String stripped) {
    put("canonicaliser", "canonicaliser", id, id + " (version " + version + ")");
    json("canonicaliserVersion", version);
    return stripped.isEmpty() ? this : put("stripped parameters", "strippedParameters", stripped);
  }

  public static String rate(double rate) {
    return String.format(Locale.ROOT, "%.4g", rate);
  }

  /** {@code 2.06 TiB}. */
  public static String bytes(double bytes) {
    int unit = 0;
    double amount = bytes;
    while (amount >= 1024 && unit < BYTE_UNITS.length - 1) {
      amount /= 1024;
      unit++;
    }
    if (unit == 0) {
      return String.format(Locale.ROOT, "%.0f B", amount);
    }
    int decimals = amount < 10 ? 2 : amount < 100 ? 1 : 0;
    return String.format(Locale.ROOT, "%,." + decimals + "f %s", amount, BYTE_UNITS[unit]);
  }

  /** Adds a line to the table only; ignores null. */
  public Fields row(String title, @Nullable Object text) {
    return text == null ? this : text(String.format(Locale.ROOT, "%-19s %s%n", title, text));
  }

  /** Adds lines to the table only, each of which ends with a line feed. */
  public Fields text(String lines) {
    table.append(lines);
    return this;
  }

  /** Adds a value only to the JSON object; ignores null. */
  public Fields json(String name, @Nullable Object value) {
    if (value != null) {
      json.set(name, Json.of(value));
    }
    return this;
  }

  /** Adds new fields, with titles made of their names, and a line per object of an array. */
  public Fields putAll(ObjectNode object) {
    for (Map.Entry<String, JsonNode> field : object.properties()) {
      String name = field.getKey();
      JsonNode value = field.getValue();
      if (value.isArray() && value.path(0).isObject()) {
        rows(value);
      } else if (!json.has(name)) {
        row(title(name), text(name, value));
      }
      json.putIfAbsent(name, value);
    }
    return this;
  }

  private void rows(JsonNode rows) {
    List<Map<String, String>> lines = new ArrayList<>();
    Map<String, String> columns = new LinkedHashMap<>();
    for (JsonNode row : rows) {
      Map<String, String> line = new LinkedHashMap<>();
      addCells("", row, line);
      line.keySet().forEach(title -> columns.put(title, title));
      lines.add(line);
    }
    lines.add(0, columns);
    table.append('\n');
    for (Map<String, String> line : lines) {
      for (String title : columns.keySet()) {
        int width = Math.max(14, title.length() + 2);
        table.append(String.format("%" + width + "s", line.getOrDefault(title, "-")));
      }
      table.append('\n');
    }
  }

  /** Adds the values of an object, and of the objects in it; lines have no space for digests. */
  private static void addCells(String prefix, JsonNode row, Map<String, String> cells) {
    for (Map.Entry<String, JsonNode> field : row.properties()) {
      String title = prefix + title(field.getKey());
      if (field.getValue().isObject()) {
        addCells(title + " ", field.getValue(), cells);
      } else if (!title.endsWith("digest")) {
        cells.put(title, text(field.getKey(), field.getValue()));
      }
    }
  }

  private static String title(String name) {
    return name.replaceFirst("Millis$", "").replaceAll("(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
  }

  private static String text(String name, JsonNode value) {
    if (value.isObject()) {
      return value.properties().stream()
          .map(field -> title(field.getKey()) + " " + text(field.getKey(), field.getValue()))
          .collect(Collectors.joining(", "));
    }
    if (value.isIntegralNumber() && !title(name).endsWith("sequence")) {
      return name.endsWith("Millis")
          ? Instant.ofEpochMilli(value.longValue()).toString()
          : number(value.longValue());
    }
    return value.isArray()
        ? "" + value.size()
        : value.isDouble() ? rate(value.asDouble()) : value.asText();
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

  public void print(PrintWriter out, boolean asJson) {
    if (asJson) {
      out.println(Json.line(json));
    } else {
      out.print(table);
    }
  }
}
