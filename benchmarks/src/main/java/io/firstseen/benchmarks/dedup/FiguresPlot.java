package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.dedup.PipelineResult.Sizes;
import io.firstseen.benchmarks.shared.Backend;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Rates and bytes against the number of keys: three panels side by side, with a line for each
 * subject. The picture is self-contained.
 */
final class FiguresPlot {
  private static final int WIDTH = 1200;
  private static final int HEIGHT = 520;
  private static final double TOP = 132;
  private static final double BOTTOM = HEIGHT - 64;
  private static final double LEFT = 72;
  private static final double PANEL = 380;
  private static final double PANEL_WIDTH = 300;

  private static final String INK = "#222222";
  private static final String PALE_INK = "#666666";
  private static final String GRID = "#e3e3e3";

  private final StringBuilder svg = new StringBuilder(1 << 14);
  private final TreeMap<Long, Measurements> byKeys = new TreeMap<>();

  private FiguresPlot(List<PipelineResult> results) {
    for (PipelineResult result : results) {
      byKeys.computeIfAbsent(result.keys(), Measurements::new).add(result);
    }
  }

  /**
   * The picture.
   *
   * @param results at least one
   */
  static String svg(List<PipelineResult> results) {
    return new FiguresPlot(results).draw();
  }

  /** Reads a figure from the result of one subject at one number of keys, if there is one. */
  @FunctionalInterface
  private interface FigureOf {
    Optional<Double> of(Measurements measured, Subject subject);
  }

  private record Point(double millionKeys, double figure) {}

  private record Line(Subject subject, List<Point> points) {}

  private String draw() {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\"", WIDTH, HEIGHT);
    add(" viewBox=\"0 0 %d %d\">\n", WIDTH, HEIGHT);
    add("<title>Rate and bytes against the number of keys</title>\n");
    add("<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT);
    add("<g font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\"");
    add(" font-size=\"13\" fill=\"%s\">\n", INK);
    text(LEFT, 34, "start", INK, 20, "Dedup of URLs of 85 bytes, half of the records repeats");
    legend();
    panel(
        0,
        "million records a second",
        (measured, subject) ->
            Optional.of(measured.rate(subject) / 1e6).filter(rate -> !rate.isNaN()));
    panel(1, "bytes a key on the heap, log scale", bytes(Sizes::heapBytes, false));
    panel(
        2,
        "bytes a key in the files of a checkpoint, log scale",
        bytes(Sizes::checkpointBytes, true));
    add("</g>\n</svg>\n");
    return svg.toString();
  }

  private static FigureOf bytes(Function<Sizes, Long> bytes, boolean onRocksDb) {
    return (measured, subject) ->
        onRocksDb || subject.backend() == Backend.HASHMAP
            ? measured
                .sizes(subject)
                .map(sizes -> (double) bytes.apply(sizes) / measured.keys())
                .filter(bytesPerKey -> bytesPerKey > 0)
            : Optional.empty();
  }

  private void legend() {
    List<Subject.Kind> kinds =
        List.of(Subject.Kind.OURS, Subject.Kind.EXACT_BY_HASH, Subject.Kind.EXACT_BY_URL);
    for (Subject subject : Subject.PLOTTED) {
      double x = LEFT + kinds.indexOf(subject.kind()) * PANEL;
      double y = subject.backend() == Backend.HASHMAP ? 64 : 88;
      line(x, y, x + 34, y, colour(subject), 2, dashes(subject));
      text(x + 41, y + 4.5, "start", INK, 13, subject.title());
    }
  }

  private void panel(int index, String title, FigureOf figure) {
    List<Line> lines = new ArrayList<>();
    for (Subject subject : Subject.values()) {
      List<Point> points = new ArrayList<>();
      byKeys.forEach(
          (keys, measured) ->
              figure.of(measured, subject).ifPresent(of -> points.add(new Point(keys / 1e6, of))));
      if (Subject.PLOTTED.contains(subject) && !points.isEmpty()) {
        lines.add(new Line(subject, points));
      }
    }
    double left = LEFT + index * PANEL;
    text(left, TOP - 12, "start", INK, 14, title);
    if (lines.isEmpty()) {
      return;
    }
    double most =
        lines.stream()
            .flatMap(line -> line.points().stream())
            .mapToDouble(Point::figure)
            .max()
            .orElseThrow();
    Axis across =
        Axis.logarithmic(byKeys.firstKey() / 1e6, byKeys.lastKey() / 1e6, left, left + PANEL_WIDTH);
    Axis up = index == 0 ? Axis.linear(most, BOTTOM, TOP) : Axis.logarithmic(1, most, BOTTOM, TOP);
    for (double tick : up.ticks()) {
      line(left, up.at(tick), left + PANEL_WIDTH, up.at(tick), GRID, 1, "");
      text(left - 8, up.at(tick) + 4.5, "end", INK, 13, number(tick));
    }
    for (long keys : byKeys.keySet()) {
      double x = across.at(keys / 1e6);
      line(x, TOP, x, BOTTOM, GRID, 1, "");
      text(x, BOTTOM + 20, "middle", INK, 13, number(keys / 1e6));
    }
    line(left, TOP, left, BOTTOM, PALE_INK, 1, "");
    line(left, BOTTOM, left + PANEL_WIDTH, BOTTOM, PALE_INK, 1, "");
    text(
        left + PANEL_WIDTH / 2,
        BOTTOM + 46,
        "middle",
        INK,
        14,
        "million different keys, log scale");
    lines.forEach(line -> draw(line, across, up));
  }

  private void draw(Line line, Axis across, Axis up) {
    add("<g><title>%s</title>\n<polyline points=\"", line.subject().title());
    for (Point point : line.points()) {
      add("%.2f,%.2f ", across.at(point.millionKeys()), up.at(point.figure()));
    }
    add(
        "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
        colour(line.subject()), dashes(line.subject()));
    for (Point point : line.points()) {
      add(
          "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"4\" fill=\"%s\"><title>%s: %s million keys, %s</title>"
              + "</circle>\n",
          across.at(point.millionKeys()),
          up.at(point.figure()),
          colour(line.subject()),
          line.subject().title(),
          number(point.millionKeys()),
          number(point.figure()));
    }
    add("</g>\n");
  }

  private static String colour(Subject subject) {
    return switch (subject.kind()) {
      case OURS, OURS_EXACT -> "#0072b2";
      case EXACT_BY_HASH -> "#d55e00";
      case EXACT_BY_URL -> "#5f5f5f";
      case SOURCE, EMPTY -> INK;
    };
  }

  /** The dash pattern: lines of RocksDB are dashed. */
  private static String dashes(Subject subject) {
    return subject.backend() == Backend.ROCKSDB ? " stroke-dasharray=\"7 4\"" : "";
  }

  private void line(
      double x1, double y1, double x2, double y2, String colour, int width, String more) {
    add("<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"", x1, y1, x2, y2);
    add(" stroke=\"%s\" stroke-width=\"%d\"%s/>\n", colour, width, more);
  }

  private void text(double x, double y, String anchor, String colour, int size, String content) {
    add("<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\"", x, y, anchor);
    add(" fill=\"%s\" font-size=\"%d\">%s</text>\n", colour, size, content);
  }

  /** Formats a number without trailing zeros. */
  private static String number(double number) {
    String text = String.format(Locale.ROOT, number < 10 ? "%.2f" : "%.0f", number);
    return text.contains(".") ? text.replaceAll("\\.?0+$", "") : text;
  }

  private void add(String format, Object... values) {
    svg.append(values.length == 0 ? format : String.format(Locale.ROOT, format, values));
  }
}
