package io.firstseen.cli.shared;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** A table of names and values, for people. */
public final class Rows {
  private final Map<String, String> rows = new LinkedHashMap<>();

  /** Adds a line. */
  public Rows put(String name, String value) {
    rows.put(name, value);
    return this;
  }

  /** Adds a line with a number. */
  public Rows put(String name, long number) {
    return put(name, SnapshotSummary.number(number));
  }

  /** The lines, each ending with a line feed. */
  @Override
  public String toString() {
    StringBuilder table = new StringBuilder();
    rows.forEach(
        (name, value) -> table.append(String.format(Locale.ROOT, "%-20s%s%n", name, value)));
    return table.toString();
  }
}
