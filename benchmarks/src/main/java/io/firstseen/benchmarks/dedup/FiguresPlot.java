package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.dedup.PipelineResult.Sizes;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Rates and bytes against the number of keys: three panels with a line for each subject. */
final class FiguresPlot {
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

  private String draw() {
    LinePanels panels =
        new LinePanels(
            "Dedup of URLs of 85 bytes, half of the records are repeats",
            "million distinct keys, log scale",
            true);
    panels.add(
        "million records per second",
        false,
        lines(
            (measured, subject) ->
                Optional.of(measured.rate(subject) / 1e6).filter(rate -> !rate.isNaN())));
    panels.add("bytes per key on the heap, log scale", true, lines(bytes(Sizes::heapBytes, false)));
    panels.add(
        "bytes per key in the files of a checkpoint, log scale",
        true,
        lines(bytes(Sizes::checkpointBytes, true)));
    return panels.svg();
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

  private Map<Style, List<Point>> lines(FigureOf figure) {
    Map<Style, List<Point>> lines = new LinkedHashMap<>();
    for (Subject subject : Subject.PLOTTED) {
      List<Point> points = new ArrayList<>();
      byKeys.forEach(
          (keys, measured) ->
              figure.of(measured, subject).ifPresent(of -> points.add(new Point(keys / 1e6, of))));
      boolean dashed = subject.backend() == Backend.ROCKSDB;
      lines.put(new Style(subject.title(), colour(subject), dashed), points);
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
