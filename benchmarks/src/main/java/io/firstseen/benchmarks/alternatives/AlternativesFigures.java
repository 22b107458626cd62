package io.firstseen.benchmarks.alternatives;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.OptionChecks;
import io.firstseen.jobs.options.AmountValues;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Prints a table of Firstseen and what people would use in its place, and plots it. Exits with
 * status 1 if a run failed; to run out of memory or time is a result.
 */
@Command(
    description = {
      "Prints rate, processor time, bytes, checkpoint and restore of Firstseen, of its connector in"
          + " SQL, of exact keyed state by URL and by hash, of Flink SQL's deduplication, and of"
          + " Redis.",
      "",
      "All get the same URLs, half of the records are repeats. Each run is a separate JVM. What"
          + " does not come to an end is not run with more keys.",
      ""
    })
public final class AlternativesFigures extends FiguresProgram {
  private static final long MIN_KEYS = 1000;

  @Option(
      names = "--keys",
      paramLabel = "N",
      split = ",",
      defaultValue = "1m,10m,100m",
      converter = AmountValues.Count.class,
      description = "Different keys, such as 20000, 10k or 10m; at least 1000 (${DEFAULT-VALUE}).")
  private List<Long> keys;

  @Option(
      names = "--only",
      paramLabel = "WHAT",
      split = ",",
      description = "Only these: ${COMPLETION-CANDIDATES}.")
  private List<Alternative> only = List.of();

  @Option(
      names = "--rounds",
      paramLabel = "R",
      defaultValue = "3",
      description =
          "Runs of each with each number of keys; figures are medians (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      defaultValue = "10",
      description = "The time after which a run is ended (${DEFAULT-VALUE}).")
  private double minutes;

  @Option(
      names = "--heap",
      paramLabel = "MIB",
      defaultValue = "16384",
      description =
          "Heap of a JVM that keeps keys on it. The others have a quarter, and RocksDB as much"
              + " besides (${DEFAULT-VALUE}).")
  private int heapMebibytes;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      defaultValue = "1000000",
      description =
          "Keys of the job that runs before each measured one, a fifth of them on RocksDB and"
              + " Redis; at most as many as are measured (${DEFAULT-VALUE}).")
  private long warmUpKeys;

  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = "Plot rate and bytes against the number of keys.")
  private Path svg;

  AlternativesFigures() {}

  public static void main(String[] arguments) {
    exit(new AlternativesFigures(), arguments);
  }

  @Override
  protected void check(OptionChecks checks) {
    for (long count : keys) {
      checks.atLeast("--keys", MIN_KEYS, count);
    }
    checks.atLeast("--rounds", 1, rounds);
    checks.atLeast("--heap", 256, heapMebibytes);
    checks.atLeast("--warm-up", 1, warmUpKeys);
    checks.positive("--minutes", Double.POSITIVE_INFINITY, minutes);
    checks.canBeWritten("--svg", svg);
  }

  @Override
  protected void measure(Path work) throws Exception {
    AlternativeRuns.Settings settings =
        new AlternativeRuns.Settings(
            keys.stream().distinct().sorted().toList(),
            only.isEmpty() ? EnumSet.allOf(Alternative.class) : EnumSet.copyOf(only),
            rounds,
            Duration.ofMillis((long) (minutes * 60_000)),
            heapMebibytes,
            warmUpKeys);
    List<RunResult> results = new AlternativeRuns(settings, work).run();
    AlternativesTable table = new AlternativesTable(settings, results);
    figures.print(table.text());
    figures.detail("falsePositiveRate", Pipelines.FALSE_POSITIVE_RATE);
    figures.detail("rounds", rounds);
    figures.detail("limitSeconds", settings.limit().toSeconds());
    figures.detail("heapMebibytes", heapMebibytes);
    figures.detail("managedMebibytes", settings.managedMebibytes());
    figures.detail("warmUpKeys", warmUpKeys);
    figures.detail("runs", results);
    if (svg != null) {
      Files.writeString(svg, table.svg());
    }
    if (!table.isComplete()) {
      figures.miss();
    }
  }

  /** A number of keys in millions or thousands. */
  static String shortened(long keys) {
    if (keys < 10_000) {
      return Long.toString(keys);
    }
    BigDecimal rounded = BigDecimal.valueOf(keys).round(new MathContext(3));
    int zeros = keys < 1_000_000 ? 3 : 6;
    return rounded.movePointLeft(zeros).stripTrailingZeros().toPlainString()
        + (zeros == 3 ? " k" : " M");
  }
}
