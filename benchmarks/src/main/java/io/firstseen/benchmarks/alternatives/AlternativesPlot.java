package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.alternatives.Alternative.Store;
import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleBiFunction;

/** Rate and bytes against the number of keys: two panels with a line for each alternative. */
final class AlternativesPlot {
  private AlternativesPlot() {}

  static String svg(AlternativeRuns.Settings settings, AlternativesTable table) {
    LinePanels panels =
        new LinePanels(
            "Which URLs are new? Half of the records are repeats",
            "million distinct keys, log scale",
            true);
    panels.add(
        "million events per second, log scale",
        true,
        lines(
            settings,
            (alternative, keys) -> 1e-6 * table.of(alternative, keys, Figure.EVENTS_PER_SECOND)));
    panels.add("bytes per key, log scale", true, lines(settings, table::bytesHeld));
    return panels.svg();
  }

  private static Map<Style, List<Point>> lines(
      AlternativeRuns.Settings settings, ToDoubleBiFunction<Alternative, Long> figure) {
    Map<Style, List<Point>> lines = new LinkedHashMap<>();
    for (Alternative alternative : settings.alternatives()) {
      lines.put(
          new Style(alternative.title(), colour(alternative), alternative.store() == Store.ROCKSDB),
          settings.keys().stream()
              .map(keys -> new Point(keys / 1e6, figure.applyAsDouble(alternative, keys)))
              .filter(point -> !Double.isNaN(point.up()))
              .toList());
    }
    return lines;
  }

  private static String colour(Alternative alternative) {
    return switch (alternative.kind()) {
      case OURS -> "#0072b2";
      case OURS_SQL -> "#56b4e9";
      case EXACT_BY_HASH -> "#d55e00";
      case EXACT_BY_URL -> "#5f5f5f";
      case SQL -> "#009e73";
      case REDIS -> "#cc79a7";
    };
  }
}
