package io.firstseen.cli.report;

import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Mark;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import io.firstseen.filters.WilsonInterval;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Plots the false-positive rate, on a logarithmic axis, over the bits per key: a line per kind of
 * set with the predictions and marks with the measurements, and a line with the
 * information-theoretic minimum. The SVG is self-contained.
 */
public final class RatePlot {
  /** Colours for colour-blind readers (Okabe, Ito: Color universal design, 2008). */
  private static final List<String> COLOURS = List.of("#0072b2", "#d55e00", "#009e73", "#aa4499");

  private static final Style BOUND =
      new Style("information bound, log2(1 / rate)", "#222222", true);

  private RatePlot() {}

  /** Creates the plot of results that include at least one approximate set. */
  public static String svg(MembershipReport report) {
    List<SetFigures> sets = report.sets().stream().filter(set -> !set.isExact()).toList();
    Map<Style, List<Point>> predicted = new LinkedHashMap<>();
    Map<Style, List<Mark>> measured = new LinkedHashMap<>();
    sets.stream()
        .collect(Collectors.groupingBy(SetFigures::title, LinkedHashMap::new, Collectors.toList()))
        .forEach(
            (title, kind) -> {
              String colour = COLOURS.get(predicted.size() % COLOURS.size());
              Style style = new Style(title, colour, false);
              predicted.put(style, points(kind, SetFigures::bitsPerKey).toList());
              measured.put(style, kind.stream().map(RatePlot::mark).toList());
            });
    predicted.put(
        BOUND,
        points(sets, SetFigures::boundBitsPerKey)
            .sorted(Comparator.comparingDouble(Point::across))
            .toList());
    LinePanels picture =
        new LinePanels(
                "False-positive rate over bits per key", "bits per key, of the whole set", false)
            .note(
                String.format(
                    Locale.ROOT,
                    "keys: %,d; probes: %,d; exact hash set: %,.0f bits per key, no false "
                        + "positives",
                    report.keys(),
                    report.probes(),
                    report.exactSet().bitsPerKey()));
    picture.add(
        "false-positive rate in %, log scale; lines: predicted, rings: measured, with the 99 % "
            + "confidence interval",
        true, predicted, measured);
    return picture.svg();
  }

  private static Stream<Point> points(
      List<SetFigures> sets, ToDoubleFunction<SetFigures> bitsPerKey) {
    return sets.stream()
        .map(set -> new Point(bitsPerKey.applyAsDouble(set), 100 * set.predictedRate()));
  }

  private static Mark mark(SetFigures set) {
    WilsonInterval interval = set.interval();
    return new Mark(
        set.bitsPerKey(),
        100 * set.measuredRate(),
        100 * interval.low(),
        100 * interval.high(),
        String.format(
            Locale.ROOT,
            "%s: %.2f bits per key, predicted %.4g %%, measured %.4g %%",
            set.title(),
            set.bitsPerKey(),
            100 * set.predictedRate(),
            100 * set.measuredRate()));
  }
}
