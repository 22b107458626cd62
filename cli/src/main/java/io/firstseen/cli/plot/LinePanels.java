package io.firstseen.cli.plot;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A plot of panels side by side, with lines over the same kind of horizontal axis; a single panel
 * is larger. The SVG is self-contained.
 */
public final class LinePanels {
  private static final double LEGEND = 64;
  private static final double LEGEND_ROW = 24;
  private static final double LEGEND_COLUMN = 380;
  private static final double BELOW_PANEL = 64;
  private static final double LEFT = 72;
  private static final double BETWEEN_PANELS = 80;
  private static final double NOTE = 24;
  private static final int MIN_LEGEND_ROWS = 2;
  private static final int MARKED_POINTS = 24;
  private static final String FONTS = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
  private static final String INK = "#222222";
  private static final String PALE_INK = "#666666";
  private static final String GRID = "#e3e3e3";
  private static final String DASHES = "7 4";

  /** Half the length of the error-bar caps. */
  private static final double CAP = 4;

  private final String title;
  private final String across;
  private final boolean logarithmicAcross;
  private final List<Panel> panels = new ArrayList<>();
  private @Nullable String note;
  private double panelWidth;
  private SvgWriter svg;
  private double top;
  private double bottom;

  /** A point of a line. */
  public record Point(double across, double up) {}

  /**
   * A measured value near a line, with its confidence interval and its tooltip. A value of 0 on a
   * logarithmic axis draws only the interval.
   */
  public record Mark(double across, double up, double low, double high, String says) {}

  /** The style of a line, and its title in the legend. */
  public record Style(String title, String colour, boolean dashed) {}

  private record Panel(
      String title,
      boolean logarithmic,
      Map<Style, List<Point>> lines,
      Map<Style, List<Mark>> marks) {

    DoubleStream across() {
      return points().mapToDouble(Point::across);
    }

    /** Removes points that a logarithmic axis cannot show. */
    DoubleStream up() {
      return points().mapToDouble(Point::up).filter(value -> !logarithmic || value > 0);
    }

    /** The points of the lines, and the ends of the intervals. */
    private Stream<Point> points() {
      Stream<Point> ends =
          marks.values().stream()
              .flatMap(List::stream)
              .flatMap(
                  mark ->
                      Stream.of(
                          new Point(mark.across(), mark.low()),
                          new Point(mark.across(), mark.high())));
      return Stream.concat(lines.values().stream().flatMap(List::stream), ends);
    }
  }

  /** Creates a plot; logarithmic horizontal axes have a tick at each point. */
  public LinePanels(String title, String across, boolean logarithmicAcross) {
    this.title = title;
    this.across = across;
    this.logarithmicAcross = logarithmicAcross;
  }

  /** Sets the subtitle. */
  public LinePanels note(String line) {
    note = line;
    return this;
  }

  /**
   * Adds a panel.
   *
   * @param logarithmic whether the vertical axis is logarithmic; it then starts at a power of ten,
   *     otherwise at 0
   * @param lines the lines in the order of the legend; lines without points are omitted
   * @param marks the marks, in the colours of their lines
   */
  public void add(
      String panel,
      boolean logarithmic,
      Map<Style, List<Point>> lines,
      Map<Style, List<Mark>> marks) {
    Map<Style, List<Point>> drawn = new LinkedHashMap<>(lines);
    drawn.values().removeIf(List::isEmpty);
    panels.add(new Panel(panel, logarithmic, drawn, marks));
  }

  /** The SVG. */
  public String svg() {
    boolean isSingle = panels.size() == 1;
    panelWidth = isSingle ? 720 : 300;
    List<Style> styles =
        panels.stream().flatMap(panel -> panel.lines().keySet().stream()).distinct().toList();
    int columns = Math.max(1, (int) (panel() * panels.size() / LEGEND_COLUMN));
    int legendRows = Math.max(MIN_LEGEND_ROWS, (styles.size() - 1) / columns + 1);
    double legendTop = note == null ? LEGEND : LEGEND + NOTE;
    top = legendTop + LEGEND_ROW * legendRows + 20;
    bottom = top + (isSingle ? 432 : 324);
    int width = (int) (LEFT + panel() * panels.size() - 12);
    int height = (int) (bottom + BELOW_PANEL);
    svg = new SvgWriter(width, height);
    svg.text("title", title);
    svg.element("rect", "width", width, "height", height, "fill", "white");
    svg.open("g", "font-family", FONTS, "font-size", 13, "fill", INK);
    svg.text("text", title, "x", LEFT, "y", 34, "font-size", 20);
    if (note != null) {
      svg.text("text", note, "x", LEFT, "y", 58, "fill", PALE_INK);
    }
    legend(styles, legendRows, legendTop);
    for (int i = 0; i < panels.size(); i++) {
      draw(panels.get(i), LEFT + i * panel());
    }
    svg.close();
    return svg.finish();
  }

  /** The width of a panel with its labels. */
  private double panel() {
    return panelWidth + BETWEEN_PANELS;
  }

  private void legend(List<Style> styles, int rows, double legendTop) {
    for (int i = 0; i < styles.size(); i++) {
      double x = LEFT + Math.floorDiv(i, rows) * LEGEND_COLUMN;
      double y = legendTop + LEGEND_ROW * (i % rows);
      svg.open("line", "x1", x, "y1", y, "x2", x + 34, "y2", y);
      stroke(styles.get(i));
      svg.close();
      svg.text("text", styles.get(i).title(), "x", x + 41, "y", y + 4.5);
    }
  }

  private void stroke(Style style) {
    svg.attributes("stroke", style.colour(), "stroke-width", 2, "fill", "none");
    if (style.dashed()) {
      svg.attributes("stroke-dasharray", DASHES);
    }
  }

  private void draw(Panel panel, double left) {
    svg.text("text", panel.title(), "x", left, "y", top - 12, "font-size", 14);
    if (panel.lines().isEmpty()) {
      return;
    }
    double right = left + panelWidth;
    double most = panel.up().max().orElseThrow();
    double furthest = panel.across().max().orElseThrow();
    Axis horizontal =
        logarithmicAcross
            ? Axis.logarithmic(panel.across().min().orElseThrow(), furthest, left, right)
            : Axis.linear(furthest, left, right);
    Axis vertical =
        panel.logarithmic()
            ? Axis.logarithmic(powerOfTen(panel.up().min().orElseThrow()), most, bottom, top)
            : Axis.linear(most, bottom, top);
    for (double tick : vertical.ticks()) {
      double y = vertical.at(tick);
      line(left, y, right, y, GRID);
      svg.text("text", number(tick), "x", left - 8, "y", y + 4.5, "text-anchor", "end");
    }
    for (double tick :
        logarithmicAcross
            ? panel.across().boxed().collect(Collectors.toCollection(TreeSet::new))
            : horizontal.ticks()) {
      double x = horizontal.at(tick);
      line(x, top, x, bottom, GRID);
      svg.text("text", number(tick), "x", x, "y", bottom + 20, "text-anchor", "middle");
    }
    line(left, top, left, bottom, PALE_INK);
    line(left, bottom, right, bottom, PALE_INK);
    svg.text("text", across, "x", (left + right) / 2, "y", bottom + 46, "text-anchor", "middle");
    panel.lines().forEach((style, points) -> draw(style, points, horizontal, vertical));
    panel
        .marks()
        .forEach((style, marks) -> marks.forEach(mark -> draw(style, mark, horizontal, vertical)));
  }

  private void draw(Style style, List<Point> points, Axis horizontal, Axis vertical) {
    svg.open("g");
    svg.text("title", style.title());
    svg.open(
        "polyline",
        "points",
        points.stream()
            .map(
                point ->
                    SvgWriter.number(horizontal.at(point.across()))
                        + ","
                        + SvgWriter.number(vertical.at(point.up())))
            .collect(Collectors.joining(" ")));
    stroke(style);
    svg.close();
    if (points.size() <= MARKED_POINTS) {
      for (Point point : points) {
        double x = horizontal.at(point.across());
        svg.open("circle", "cx", x, "cy", vertical.at(point.up()), "r", 4, "fill", style.colour());
        svg.text(
            "title",
            "%s: %s %s, %s"
                .formatted(style.title(), number(point.across()), across, number(point.up())));
        svg.close();
      }
    }
    svg.close();
  }

  private void draw(Style style, Mark mark, Axis horizontal, Axis vertical) {
    double x = horizontal.at(mark.across());
    double high = vertical.at(mark.high());
    double low = vertical.at(mark.low());
    svg.open("g");
    svg.text("title", mark.says());
    line(x, high, x, low, style.colour());
    line(x - CAP, high, x + CAP, high, style.colour());
    line(x - CAP, low, x + CAP, low, style.colour());
    if (mark.up() > 0) {
      svg.open("circle", "cx", x, "cy", vertical.at(mark.up()), "r", 5.5, "fill", "white");
      svg.attributes("stroke", style.colour(), "stroke-width", 2).close();
    }
    svg.close();
  }

  private void line(double x1, double y1, double x2, double y2, String colour) {
    svg.element("line", "x1", x1, "y1", y1, "x2", x2, "y2", y2, "stroke", colour);
  }

  /** The largest tick that is not above a number. */
  private static double powerOfTen(double number) {
    return Math.pow(10, Math.floor(Math.log10(number)));
  }

  /** Formats a number with three significant digits, and without trailing zeros. */
  private static String number(double number) {
    if (number >= 1000) {
      return String.format(Locale.ROOT, "%.0f", number);
    }
    BigDecimal rounded = BigDecimal.valueOf(number).round(new MathContext(3));
    return number != 0 && number < 1e-4
        ? String.format(Locale.ROOT, "%.0e", number)
        : rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
  }
}
