package io.firstseen.cli.report;

import io.firstseen.filters.WilsonInterval;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/**
 * Draws the false-positive rate, on a logarithmic axis, against the bits per key. There is a line
 * for each kind of set, and one for the fewest bits that any set can have. The picture is
 * self-contained.
 */
public final class RatePlot {
  private static final String TITLE = "False-positive rate against bits a key";
  private static final int WIDTH = 860;
  private static final int HEIGHT = 640;
  private static final double LEFT = 104;
  private static final double RIGHT = WIDTH - 32;
  private static final double TOP = 136;
  private static final double BOTTOM = HEIGHT - 72;

  /** The factor by which the axis of rates extends beyond the lowest and the highest rate. */
  private static final double RATE_MARGIN = 1.5;

  /** If the axis has fewer powers of ten than this, it also shows values between them. */
  private static final int ENOUGH_POWERS = 2;

  private static final String BOUND_DASHES = "6 4";

  /** Half the length of the bar at each end of an interval. */
  private static final double CAP = 4;

  private static final int MAX_BIT_TICKS = 12;
  private static final double LEGEND_TOP = 88;
  private static final double LEGEND_LINE = 24;
  private static final double LEGEND_SAMPLE = 34;
  private static final double LEGEND_GAP = 64;

  /** The average width of a letter in the fonts below; SVG cannot measure text. */
  private static final double LETTER_WIDTH = 7.1;

  private static final double LINE_OPACITY = 0.65;

  private static final String FONTS = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  private static final String INK = "#222222";
  private static final String PALE_INK = "#666666";
  private static final String GRID = "#e3e3e3";
  private static final String OUT_OF_REACH = "#f0f0f0";

  private final MembershipReport report;
  private final List<Kind> kinds = new ArrayList<>();
  private final Scale bits;
  private final Scale logRates;
  private final SvgWriter svg = new SvgWriter(WIDTH, HEIGHT);

  private record Kind(String title, Marker marker, List<SetFigures> sets) {}

  private RatePlot(MembershipReport report) {
    this.report = report;
    List<SetFigures> sets = report.sets().stream().filter(set -> !set.isExact()).toList();
    Map<String, List<SetFigures>> byTitle =
        sets.stream()
            .collect(
                Collectors.groupingBy(SetFigures::title, LinkedHashMap::new, Collectors.toList()));
    Iterator<Marker> markers = List.of(Marker.values()).iterator();
    byTitle.forEach((title, ofKind) -> kinds.add(new Kind(title, markers.next(), ofKind)));
    double[] rates =
        sets.stream()
            .flatMapToDouble(RatePlot::shownRates)
            .filter(rate -> rate > 0)
            .sorted()
            .toArray();
    double highest = Math.min(1, rates[rates.length - 1] * RATE_MARGIN);
    double lowest = Math.min(highest / 10, rates[0] / RATE_MARGIN);
    this.logRates = new Scale(Math.log10(lowest), Math.log10(highest), BOTTOM, TOP);
    double most =
        Math.max(
            sets.stream().mapToDouble(SetFigures::bitsPerKey).max().orElseThrow(),
            SetFigures.boundBitsPerKey(lowest));
    double least = SetFigures.boundBitsPerKey(highest);
    double room = (most - least) / MAX_BIT_TICKS;
    this.bits = new Scale(Math.max(0, Math.floor(least)), most + room, LEFT, RIGHT);
  }

  private static DoubleStream shownRates(SetFigures set) {
    WilsonInterval interval = set.interval();
    return DoubleStream.of(set.predictedRate(), interval.low(), interval.high());
  }

  /**
   * The picture.
   *
   * @param report the results, of at least one set that is not exact
   */
  public static String svg(MembershipReport report) {
    return new RatePlot(report).draw();
  }

  private String draw() {
    svg.text("title", TITLE);
    svg.element("rect", "width", WIDTH, "height", HEIGHT, "fill", "white");
    svg.open("g", "font-family", FONTS, "font-size", 13, "fill", INK);
    head();
    bound();
    axes();
    kinds.forEach(this::sets);
    legend();
    svg.close();
    return svg.finish();
  }

  private void head() {
    svg.text("text", TITLE, "x", LEFT, "y", 34, "font-size", 20);
    svg.text(
        "text",
        String.format(
            Locale.ROOT,
            "keys: %,d; probes: %,d; exact hash set: %,.0f bits a key, no false positives",
            report.keys(),
            report.probes(),
            report.exactSet().bitsPerKey()),
        "x",
        LEFT,
        "y",
        58,
        "fill",
        PALE_INK);
  }

  /** Draws the bound, a straight line on these axes. No set can lie to the left of it. */
  private void bound() {
    double top = bits.at(SetFigures.boundBitsPerKey(Math.pow(10, logRates.to())));
    double bottom = bits.at(SetFigures.boundBitsPerKey(Math.pow(10, logRates.from())));
    svg.element(
        "polygon",
        "points",
        points(LEFT, TOP, top, TOP, bottom, BOTTOM, LEFT, BOTTOM),
        "fill",
        OUT_OF_REACH);
    line(top, TOP, bottom, BOTTOM, INK, 1.5, "stroke-dasharray", BOUND_DASHES);
  }

  private void axes() {
    for (double value : bits.ticks(MAX_BIT_TICKS)) {
      double x = bits.at(value);
      line(x, TOP, x, BOTTOM, GRID, 1);
      svg.text("text", SvgWriter.number(value), "x", x, "y", BOTTOM + 20, "text-anchor", "middle");
    }
    for (double rate : rateTicks()) {
      double y = logRates.at(Math.log10(rate));
      line(LEFT, y, RIGHT, y, GRID, 1);
      svg.text(
          "text", Percent.chosen(rate) + " %", "x", LEFT - 8, "y", y + 4.5, "text-anchor", "end");
    }
    line(LEFT, TOP, LEFT, BOTTOM, PALE_INK, 1);
    line(LEFT, BOTTOM, RIGHT, BOTTOM, PALE_INK, 1);
    double middle = (LEFT + RIGHT) / 2;
    svg.text(
        "text",
        "bits a key, of the whole set",
        "x",
        middle,
        "y",
        BOTTOM + 48,
        "font-size",
        14,
        "text-anchor",
        "middle");
    svg.text(
        "text",
        "false-positive rate (log scale)",
        "transform",
        "translate(26 " + SvgWriter.number((TOP + BOTTOM) / 2) + ") rotate(-90)",
        "font-size",
        14,
        "text-anchor",
        "middle");
  }

  private List<Double> rateTicks() {
    List<Double> powers = rateTicks(1);
    return powers.size() >= ENOUGH_POWERS ? powers : rateTicks(1, 2, 5);
  }

  private List<Double> rateTicks(int... digits) {
    List<Double> ticks = new ArrayList<>();
    for (int power = (int) Math.floor(logRates.from()); power <= logRates.to(); power++) {
      for (int digit : digits) {
        double log = power + Math.log10(digit);
        if (log >= logRates.from() && log <= logRates.to()) {
          ticks.add(BigDecimal.valueOf(digit).scaleByPowerOfTen(power).doubleValue());
        }
      }
    }
    return ticks;
  }

  private void sets(Kind kind) {
    Marker marker = kind.marker();
    double[] predicted =
        kind.sets().stream()
            .flatMapToDouble(set -> DoubleStream.of(x(set), y(set.predictedRate())))
            .toArray();
    svg.element(
        "polyline",
        "points",
        points(predicted),
        "fill",
        "none",
        "stroke",
        marker.colour(),
        "stroke-width",
        2,
        "stroke-opacity",
        LINE_OPACITY);
    for (SetFigures set : kind.sets()) {
      svg.open("g");
      svg.text("title", describe(set));
      svg.element(
          "circle",
          "cx",
          x(set),
          "cy",
          y(set.predictedRate()),
          "r",
          3,
          "fill",
          marker.colour(),
          "fill-opacity",
          LINE_OPACITY);
      interval(set, marker);
      if (set.falsePositives() > 0) {
        marker.draw(svg, x(set), y(set.measuredRate()));
      }
      svg.close();
    }
  }

  private void interval(SetFigures set, Marker marker) {
    double x = x(set);
    double high = y(set.interval().high());
    double low = y(set.interval().low());
    line(x, high, x, low, marker.colour(), 1.5);
    line(x - CAP, high, x + CAP, high, marker.colour(), 1.5);
    if (set.falsePositives() > 0) {
      line(x - CAP, low, x + CAP, low, marker.colour(), 1.5);
    }
  }

  private static String describe(SetFigures set) {
    return "%s: %s bits a key, predicted %s %%, measured %s %%"
        .formatted(
            set.title(),
            SvgWriter.number(set.bitsPerKey()),
            Percent.rounded(set.predictedRate(), 4),
            Percent.rounded(set.measuredRate(), 4));
  }

  /** Draws the legend: two lines above the plot, where there are no marks of sets. */
  private void legend() {
    double x = LEFT;
    for (Kind kind : kinds) {
      line(
          x,
          LEGEND_TOP,
          x + LEGEND_SAMPLE,
          LEGEND_TOP,
          kind.marker().colour(),
          2,
          "stroke-opacity",
          LINE_OPACITY);
      kind.marker().draw(svg, x + LEGEND_SAMPLE / 2, LEGEND_TOP);
      legendText(kind.title(), x, LEGEND_TOP);
      x += LEGEND_GAP + kind.title().length() * LETTER_WIDTH;
    }
    double y = LEGEND_TOP + LEGEND_LINE;
    line(LEFT, y, LEFT + LEGEND_SAMPLE, y, INK, 1.5, "stroke-dasharray", BOUND_DASHES);
    String bound = "information bound, log2(1 / rate)";
    legendText(bound, LEFT, y);
    svg.text(
        "text",
        "marks: measured, with the 99 % interval; lines: predicted",
        "x",
        LEFT + LEGEND_GAP + bound.length() * LETTER_WIDTH,
        "y",
        y + 4.5,
        "fill",
        PALE_INK);
  }

  private void legendText(String text, double x, double y) {
    svg.text("text", text, "x", x + LEGEND_SAMPLE + 7, "y", y + 4.5);
  }

  private double x(SetFigures set) {
    return bits.at(set.bitsPerKey());
  }

  /** The position of a rate; at the edge of the plot if the rate is outside of it. */
  private double y(double rate) {
    double log = rate == 0 ? logRates.from() : Math.log10(rate);
    return logRates.at(Math.max(logRates.from(), Math.min(logRates.to(), log)));
  }

  private void line(
      double x1, double y1, double x2, double y2, String colour, double width, Object... more) {
    svg.open("line", "x1", x1, "y1", y1, "x2", x2, "y2", y2, "stroke", colour);
    svg.attributes("stroke-width", width).attributes(more).close();
  }

  private static String points(double... coordinates) {
    StringBuilder points = new StringBuilder();
    for (int i = 0; i < coordinates.length; i += 2) {
      points.append(i == 0 ? "" : " ");
      points.append(SvgWriter.number(coordinates[i])).append(',');
      points.append(SvgWriter.number(coordinates[i + 1]));
    }
    return points.toString();
  }
}
