package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.alternatives.Alternative.Store;
import io.firstseen.benchmarks.alternatives.RunResult.End;
import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleBiFunction;

/** The figures, in Markdown and as a plot. */
final class AlternativesTable {
  private static final String HEADING =
      """
      | keys | what | M events/s | CPU s a M events | bytes per key | checkpoint: s | bytes per key | restore, s | wrong | |
      |---:|---|---:|---:|---:|---:|---:|---:|---:|---|
      """;

  private final AlternativeRuns.Settings settings;
  private final List<RunResult> results;

  AlternativesTable(AlternativeRuns.Settings settings, List<RunResult> results) {
    this.settings = settings;
    this.results = List.copyOf(results);
  }

  String text() {
    StringBuilder text = new StringBuilder(1024);
    text.append(
        String.format(
            Locale.ROOT,
            "URLs of %d bytes, half of the records are repeats, parallelism 1, false-positive"
                + " rate of Firstseen %s %%; heap of %,d MiB, with RocksDB or Redis %,d MiB,"
                + " RocksDB's own memory %,d MiB; rounds: %d%n%n",
            Url.BYTES,
            Pipelines.FALSE_POSITIVE_RATE * 100,
            settings.heapMebibytes(Alternative.OURS_HEAP),
            settings.heapMebibytes(Alternative.OURS_ROCKSDB),
            settings.managedMebibytes(),
            settings.rounds()));
    text.append(HEADING);
    for (long keys : settings.keys()) {
      for (Alternative alternative : settings.alternatives()) {
        text.append(row(alternative, keys));
      }
    }
    return text.toString();
  }

  /** Whether all runs came to an end that this command knows. */
  boolean isComplete() {
    return results.stream().noneMatch(result -> result.end() == End.FAILED);
  }

  private String row(Alternative alternative, long keys) {
    return "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |%n"
        .formatted(
            AlternativesFigures.shortened(keys),
            alternative.title(),
            number(of(alternative, keys, Figure.EVENTS_PER_SECOND), 1e-6, 2),
            number(of(alternative, keys, Figure.CPU_SECONDS), 1, 2),
            held(alternative, keys),
            number(of(alternative, keys, Figure.CHECKPOINT_SECONDS), 1, 2),
            number(of(alternative, keys, Figure.CHECKPOINT_BYTES), 1, 2),
            number(of(alternative, keys, Figure.RESTORE_SECONDS), 1, 2),
            number(wrong(alternative, keys), 1, 0),
            remark(alternative, keys));
  }

  private static String number(double figure, double factor, int decimals) {
    return Double.isNaN(figure)
        ? ""
        : String.format(Locale.ROOT, "%,." + decimals + "f", figure * factor);
  }

  private String held(Alternative alternative, long keys) {
    String memory = number(of(alternative, keys, Figure.MEMORY_BYTES), 1, 2);
    String files = number(of(alternative, keys, Figure.CHECKPOINT_BYTES), 1, 2);
    return alternative.store() == Store.ROCKSDB && !files.isEmpty()
        ? memory + " + " + files
        : memory;
  }

  /**
   * The bytes that a key takes where the alternative keeps it: on the heap, in the memory of Redis,
   * or in the files of RocksDB and on the heap before them. NaN if it was not measured.
   */
  double bytesHeld(Alternative alternative, long keys) {
    double memory = of(alternative, keys, Figure.MEMORY_BYTES);
    return alternative.store() == Store.ROCKSDB
        ? Math.max(0, memory) + of(alternative, keys, Figure.CHECKPOINT_BYTES)
        : memory;
  }

  private double wrong(Alternative alternative, long keys) {
    double passes = of(alternative, keys, Figure.FALSE_PASSES);
    return Math.abs(of(alternative, keys, Figure.FALSE_DROPS))
        + (Double.isNaN(passes) ? 0 : Math.abs(passes));
  }

  /** The median of the runs that measured a figure; NaN if none did. */
  double of(Alternative alternative, long keys, Figure figure) {
    return Turns.median(
        results.stream()
            .filter(result -> result.alternative() == alternative && result.keys() == keys)
            .map(result -> result.progress().figures().get(figure))
            .filter(Objects::nonNull)
            .toList(),
        Double::doubleValue);
  }

  private String remark(Alternative alternative, long keys) {
    return results.stream()
        .filter(result -> result.alternative() == alternative && result.end() != End.FINISHED)
        .findFirst()
        .map(
            ended ->
                ended.keys() == keys
                    ? inWords(ended, settings.limit())
                    : ended.keys() < keys ? "not run, see above" : "")
        .orElse("");
  }

  static String inWords(RunResult result, Duration limit) {
    Progress progress = result.progress();
    String far = far(progress);
    return switch (result.end()) {
      case FINISHED ->
          "%.2f M events/s".formatted(progress.figures().get(Figure.EVENTS_PER_SECOND) / 1e6);
      case OUT_OF_MEMORY -> "out of memory " + far;
      case LATE -> "not finished in %s min: %s".formatted(minutes(limit), far);
      case FAILED -> "failed " + far;
      case NOT_INSTALLED -> "not installed";
    };
  }

  private static String far(Progress progress) {
    if (progress.figures().containsKey(Figure.EVENTS_PER_SECOND)) {
      return "after all keys";
    }
    String keys = "at %s keys".formatted(AlternativesFigures.shortened(progress.keys()));
    return progress.keys() == 0
        ? keys
        : keys + ", %.2f M events/s".formatted(2 * progress.keys() / progress.seconds() / 1e6);
  }

  private static String minutes(Duration limit) {
    return String.format(Locale.ROOT, "%.1f", limit.toMillis() / 60_000.0).replace(".0", "");
  }

  /** Rate and bytes against the number of keys: two panels with a line for each alternative. */
  String svg() {
    LinePanels panels =
        new LinePanels(
            "Which URLs are new? Half of the records are repeats",
            "million distinct keys, log scale",
            true);
    panels.add(
        "million events per second, log scale",
        true,
        lines((alternative, keys) -> 1e-6 * of(alternative, keys, Figure.EVENTS_PER_SECOND)),
        Map.of());
    panels.add("bytes per key, log scale", true, lines(this::bytesHeld), Map.of());
    return panels.svg();
  }

  private Map<Style, List<Point>> lines(ToDoubleBiFunction<Alternative, Long> figure) {
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
