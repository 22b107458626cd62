package io.firstseen.benchmarks.dedup;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.benchmarks.dedup.Row.Figure;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.util.EnvironmentInformation;

/** The figures, in Markdown and in JSON. */
final class FigureTable {
  private final FigureRuns.Settings settings;
  private final Measurements measured;
  private final Map<Row, Figure> figures = new EnumMap<>(Row.class);

  FigureTable(FigureRuns.Settings settings, Set<Row> rows, Measurements measured) {
    this.settings = settings;
    this.measured = measured;
    rows.forEach(row -> figures.put(row, row.figure(measured)));
  }

  boolean allReached() {
    return figures.entrySet().stream()
        .allMatch(entry -> entry.getKey().bound().holds(entry.getValue().value()));
  }

  String text() {
    StringBuilder text = new StringBuilder(256);
    text.append(
        String.format(
            Locale.ROOT,
            "%,d keys a run or stage, half of the records repeats unless said, parallelism %d,"
                + " object reuse %s, false-positive rate %s %%, %d MiB of managed memory, heap of %,d MiB, rounds: %d; Flink %s, Java %s, %d"
                + " processors%n%n",
            settings.keys(),
            settings.flink().parallelism(),
            settings.flink().objectReuse() ? "on" : "off",
            Pipelines.FALSE_POSITIVE_RATE * 100,
            settings.flink().managedMemoryMebibytes(),
            settings.heapMebibytes(),
            settings.rounds(),
            EnvironmentInformation.getVersion(),
            Runtime.version(),
            Runtime.getRuntime().availableProcessors()));
    text.append("| row | what | bound | measured | |\n| --- | --- | --- | --- | --- |\n");
    figures.forEach(
        (row, figure) ->
            text.append(
                "| %s | %s | %s | %s | %s |%n"
                    .formatted(
                        row.id(), row.what(), row.bound(), figure.text(), verdict(row, figure))));
    return text.toString();
  }

  private static String verdict(Row row, Figure figure) {
    if (!row.bound().holds(figure.value())) {
      return "MISSED";
    }
    return row.bound().equals(Bound.none()) ? "" : "reached";
  }

  ObjectNode json() {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("flink", EnvironmentInformation.getVersion());
    json.put("java", Runtime.version().toString());
    json.put("processors", Runtime.getRuntime().availableProcessors());
    json.put("falsePositiveRate", Pipelines.FALSE_POSITIVE_RATE);
    json.set("settings", mapper.valueToTree(settings));
    figures.forEach(
        (row, figure) -> {
          ObjectNode entry = json.withArray("/rows").addObject();
          entry.put("row", row.id()).put("what", row.what()).put("bound", row.bound().toString());
          if (!Double.isNaN(figure.value())) {
            entry.put("value", figure.value());
          }
          entry.put("text", figure.text());
          entry.put("reached", row.bound().holds(figure.value()));
        });
    json.set("runs", mapper.valueToTree(measured.pipelines()));
    json.set("checkpointed", mapper.valueToTree(measured.checkpointed()));
    json.set("canonicaliser", mapper.valueToTree(measured.canonicaliser()));
    json.set("expiry", mapper.valueToTree(measured.expiry()));
    return json;
  }
}
