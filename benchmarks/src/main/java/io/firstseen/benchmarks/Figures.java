package io.firstseen.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.runtime.util.EnvironmentInformation;

/** Measured figures: printed, collected for a file, and compared with their bounds. */
public final class Figures {
  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  private final List<Map<String, Object>> rows = new ArrayList<>();
  private final Map<String, Object> details = new LinkedHashMap<>();
  private boolean missed;

  public void title(String title) {
    out.printf("%n%s%n", title);
  }

  public void plain(String name, double value, String unit) {
    print(name, value, unit, "");
    add(name, value, unit);
  }

  /** A figure that must not be above its bound, which is infinite if there is none. */
  public void atMost(String name, double value, double bound, String unit) {
    bounded(name, value, bound, unit, "at most", value <= bound);
  }

  /** A figure that must not be below its bound, which is infinite if there is none. */
  public void atLeast(String name, double value, double bound, String unit) {
    bounded(name, value, bound, unit, "at least", value >= bound);
  }

  /**
   * A figure with a name and a description.
   *
   * @param value NaN, which misses every bound, if it was not measured
   * @param text the value and its composition
   */
  public void add(String name, String what, double value, Bound bound, String text) {
    boolean reached = bound.holds().test(value);
    missed |= !reached;
    out.printf(
        "  %s: %s%n    %s, %s%s%n", name, what, text, bound.text(), reached ? "" : "   MISSED");
    Map<String, Object> row = add(name, value, "");
    row.put("what", what);
    row.put("text", text);
    row.put("bound", bound.text());
    row.put("reached", reached);
  }

  /** Whether a figure missed its bound. */
  public boolean missed() {
    return missed;
  }

  /** Prints the machine and the versions, and adds them to the file. */
  public void machine() {
    detail("flink", EnvironmentInformation.getVersion());
    detail("java", Runtime.version().toString());
    detail("system", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    detail("processors", Runtime.getRuntime().availableProcessors());
    out.println(details);
  }

  /** Adds a value, such as the results of the single runs, to the file. */
  public void detail(String name, Object value) {
    details.put(name, value);
  }

  /** Prints text, such as a table whose values the file has as a detail. */
  public void print(String text) {
    out.print(text);
  }

  /** Counts a failure as a missed bound. */
  public void miss() {
    missed = true;
  }

  /** Writes all figures and details to a file. */
  public void write(Path json) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("reached", !missed);
    all.put("figures", rows);
    all.putAll(details);
    new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(json.toFile(), all);
  }

  private void bounded(
      String name, double value, double bound, String unit, String relation, boolean reached) {
    if (Double.isInfinite(bound)) {
      plain(name, value, unit);
      return;
    }
    missed |= !reached;
    String verdict = reached ? "" : "   MISSED";
    print(name, value, unit, String.format(Locale.ROOT, ", %s %,.3f%s", relation, bound, verdict));
    Map<String, Object> row = add(name, value, unit);
    row.put(relation, bound);
    row.put("reached", reached);
  }

  private void print(String name, double value, String unit, String rest) {
    out.printf(Locale.ROOT, "  %-58s %,13.3f %s%s%n", name, value, unit, rest);
  }

  private Map<String, Object> add(String name, double value, String unit) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("figure", name);
    row.put("value", value);
    row.put("unit", unit);
    rows.add(row);
    return row;
  }
}
