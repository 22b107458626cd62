package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.OptionChecks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Prints the figures of the dedup operator in whole jobs, and whether they meet their bounds. Exits
 * with status 1 if a bound is missed or a figure cannot be measured.
 */
@Command(
    description = {
      "Prints the figures of Firstseen's dedup in whole jobs, and the bounds that they must meet.",
      "",
      "It runs the dedup, the same job with an empty keyed function, and exact dedup keyed by hash"
          + " and by URL, on heap and on RocksDB, each in a separate JVM on Flink's mini cluster."
          + " The source makes URLs of 85 bytes, half of the records are repeats.",
      ""
    })
public final class DedupFigures extends FiguresProgram {
  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "5000000",
      description = "Different keys, at least 1000 (${DEFAULT-VALUE}).")
  private long keys;

  @Option(
      names = "--rounds",
      paramLabel = "R",
      defaultValue = "3",
      description = "Runs of each job; rates are their medians (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--only",
      paramLabel = "ROW",
      split = ",",
      description = "Only these rows of the table: ${COMPLETION-CANDIDATES}.")
  private List<Row> only = List.of();

  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = "Also run with fewer keys, and plot rate and bytes over the number of keys.")
  private Path svg;

  @Option(
      names = "--parallelism",
      paramLabel = "P",
      defaultValue = "1",
      description = "Of every operator (${DEFAULT-VALUE}).")
  private int parallelism;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      defaultValue = "5000000",
      description =
          "Keys of the job that runs before each measured one, a fifth of them on RocksDB; with"
              + " filled filters, of the same job's first records (${DEFAULT-VALUE}).")
  private long warmUpKeys;

  @Option(
      names = "--object-reuse",
      description = "Let Flink hand objects on without a copy, in all jobs.")
  private boolean objectReuse;

  @Option(
      names = "--heap",
      paramLabel = "MIB",
      defaultValue = "4096",
      description = "Heap of each JVM (${DEFAULT-VALUE}).")
  private long heapMebibytes;

  @Option(
      names = "--managed-memory",
      paramLabel = "MIB",
      defaultValue = "256",
      description = "RocksDB's block cache and write buffers, in all jobs (${DEFAULT-VALUE}).")
  private int managedMemoryMebibytes;

  @Option(
      names = "--filters",
      paramLabel = "MIB",
      defaultValue = "512",
      description = "Filters of the row checkpoints (${DEFAULT-VALUE}).")
  private long filterMebibytes;

  DedupFigures() {}

  public static void main(String[] arguments) {
    exit(new DedupFigures(), arguments);
  }

  @Override
  protected void check(OptionChecks checks) {
    checks.atLeast("--keys", 1000, keys);
    checks.atLeast("--rounds", 1, rounds);
    checks.atLeast("--warm-up", 1, warmUpKeys);
    checks.atLeast("--parallelism", 1, parallelism);
    checks.atLeast("--filters", 1, filterMebibytes);
    checks.canBeWritten("--svg", svg);
  }

  @Override
  protected void measure(Path work) throws Exception {
    FigureRuns.Settings settings =
        new FigureRuns.Settings(
            keys,
            rounds,
            warmUpKeys,
            new FlinkSettings(parallelism, managedMemoryMebibytes, objectReuse),
            heapMebibytes,
            filterMebibytes);
    Set<Row> rows = only.isEmpty() ? EnumSet.allOf(Row.class) : EnumSet.copyOf(only);
    Measurements measured = new FigureRuns(settings, work, System.err).measure(rows, svg != null);
    figures.detail("settings", settings);
    figures.title("False-positive rate " + Pipelines.FALSE_POSITIVE_RATE + ", " + settings);
    measured.report(rows, figures);
    if (svg != null) {
      Files.writeString(svg, FiguresPlot.svg(measured.pipelines()));
    }
  }
}
