package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.dedup.PipelineRun.Sizes;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToLongFunction;

/** Rates and bytes against the number of keys: three panels with a line for each subject. */
final class FiguresPlot {
  private final TreeMap<Long, Measurements> byKeys = new TreeMap<>();

  private FiguresPlot(List<PipelineRun.Result> results) {
    for (PipelineRun.Result result : results) {
      byKeys.computeIfAbsent(result.keys(), Measurements::new).pipelines.add(result);
    }
  }

  /**
   * The picture.
   *
   * @param results at least one
   */
  static String svg(List<PipelineRun.Result> results) {
    return new FiguresPlot(results).draw();
  }

  private String draw() {
    LinePanels panels =
        new LinePanels(
            "Dedup of URLs of 85 bytes, half of the records are repeats",
            "million distinct keys, log scale",
            true);
    panels.add(
        "million records per second",
        false,
        lines((measured, subject) -> measured.rate(subject) / 1e6),
        Map.of());
    panels.add(
        "bytes per key on the heap, log scale",
        true,
        lines(
            (measured, subject) ->
                subject.backend() == Backend.HASHMAP
                    ? bytesPerKey(measured, subject, Sizes::heapBytes)
                    : Double.NaN),
        Map.of());
    panels.add(
        "bytes per key in the files of a checkpoint, log scale",
        true,
        lines((measured, subject) -> bytesPerKey(measured, subject, Sizes::checkpointBytes)),
        Map.of());
    return panels.svg();
  }

  private static double bytesPerKey(
      Measurements measured, Subject subject, ToLongFunction<Sizes> bytes) {
    long all = measured.sizes(subject).map(bytes::applyAsLong).orElse(0L);
    return all > 0 ? (double) all / measured.keys : Double.NaN;
  }

  /** A line for each subject, without NaN. */
  private Map<Style, List<Point>> lines(ToDoubleBiFunction<Measurements, Subject> figure) {
    Map<Style, List<Point>> lines = new LinkedHashMap<>();
    for (Subject subject : Subject.PLOTTED) {
      boolean dashed = subject.backend() == Backend.ROCKSDB;
      lines.put(
          new Style(subject.title(), colour(subject), dashed),
          byKeys.values().stream()
              .map(of -> new Point(of.keys / 1e6, figure.applyAsDouble(of, subject)))
              .filter(point -> !Double.isNaN(point.up()))
              .toList());
    }
    return lines;
  }

  private static String colour(Subject subject) {
    return switch (subject.kind()) {
      case OURS, OURS_EXACT -> "#0072b2";
      case EXACT_BY_HASH -> "#d55e00";
      case EXACT_BY_URL -> "#5f5f5f";
      case EMPTY -> "#222222";
    };
  }
}
