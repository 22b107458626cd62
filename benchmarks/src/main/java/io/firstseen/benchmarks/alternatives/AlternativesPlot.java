package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.alternatives.Alternative.Store;
import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** Rate and bytes against the number of keys: two panels with a line for each alternative. */
final class AlternativesPlot {
  private AlternativesPlot() {}

  /** Reads a figure of one alternative with one number of keys, if there is one. */
  @FunctionalInterface
  private interface FigureOf {
    OptionalDouble of(Alternative alternative, long keys);
  }

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
            (alternative, keys) ->
                times(1e-6, table.of(alternative, keys, Figure.EVENTS_PER_SECOND))));
    panels.add("bytes per key, log scale", true, lines(settings, table::bytesHeld));
    return panels.svg();
  }

  private static OptionalDouble times(double factor, OptionalDouble figure) {
    return figure.isEmpty() ? figure : OptionalDouble.of(factor * figure.getAsDouble());
  }

  private static Map<Style, List<Point>> lines(AlternativeRuns.Settings settings, FigureOf figure) {
    Map<Style, List<Point>> lines = new LinkedHashMap<>();
    for (Alternative alternative : settings.alternatives()) {
      List<Point> points = new ArrayList<>();
      for (long keys : settings.keys()) {
        figure.of(alternative, keys).ifPresent(value -> points.add(new Point(keys / 1e6, value)));
      }
      lines.put(
          new Style(alternative.title(), colour(alternative), alternative.store() == Store.ROCKSDB),
          points);
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
