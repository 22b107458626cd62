package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.dedup.Measurements.CheckpointedRates;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.OptionChecks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.util.FileUtils;
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
  private static final long MEBIBYTE = 1 << 20;
  private static final int EXPIRY_RECORDS = 4_000_000;
  private static final int EXPIRY_ROUNDS = 5;
  private static final long CHECKPOINT_MILLIS = 1000;

  /** The plot shows runs with the keys divided by these, and with all keys. */
  private static final int[] PLOT_DIVISORS = {10, 5, 2};

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

  /**
   * How to run.
   *
   * @param warmUpKeys of the warm-up before each measured job or stage, on heap
   * @param heapMebibytes heap of each JVM, unless a row sets its own
   * @param filterMebibytes size of the filters in the row {@link Row#CHECKPOINTS}
   */
  record Settings(
      long keys,
      int rounds,
      long warmUpKeys,
      FlinkSettings flink,
      long heapMebibytes,
      long filterMebibytes) {}

  @Override
  protected void measure(Path work) throws Exception {
    Set<Row> rows = only.isEmpty() ? EnumSet.allOf(Row.class) : EnumSet.copyOf(only);
    Measurements measured = measure(rows, work);
    Settings settings =
        new Settings(keys, rounds, warmUpKeys, flink(), heapMebibytes, filterMebibytes);
    figures.detail("settings", settings);
    figures.title("False-positive rate " + Pipelines.FALSE_POSITIVE_RATE + ", " + settings);
    measured.report(rows, figures);
    if (svg != null) {
      Files.writeString(svg, FiguresPlot.svg(measured.pipelines));
    }
  }

  private FlinkSettings flink() {
    return new FlinkSettings(parallelism, managedMemoryMebibytes, objectReuse);
  }

  /** Runs the measurements that rows need, one JVM after the other. */
  private Measurements measure(Set<Row> rows, Path work) throws Exception {
    Measurements measured = new Measurements(keys);
    Set<Subject> subjects = EnumSet.noneOf(Subject.class);
    rows.forEach(row -> subjects.addAll(row.subjects()));
    if (svg != null) {
      subjects.addAll(Subject.PLOTTED);
    }
    List<Subject> order = new ArrayList<>(subjects);
    if (!order.isEmpty()) {
      // A virtual machine may have to claim its memory first, so the first run does not count.
      run("not counted", order.get(order.size() - 1), keys, false, work);
    }
    for (int round = 1; round <= rounds; round++) {
      for (Subject subject : order) {
        measured.pipelines.add(run("round " + round, subject, keys, round == 1, work));
      }
      Collections.rotate(order, 1);
    }
    if (rows.stream().anyMatch(Row.OF_EXPIRY::contains)) {
      System.err.println("expiry in one task");
      int expiring = (int) Math.min(2 * keys, Integer.MAX_VALUE / 2);
      measured.expiry =
          ChildJvm.withHeap(heapMebibytes)
              .run(
                  ExpiryRun.class,
                  new ExpiryRun.Spec(expiring, EXPIRY_RECORDS, EXPIRY_ROUNDS),
                  ExpiryRun.Result.class);
    }
    Map<Row, Subject> checkpointed = new EnumMap<>(Row.OF_CHECKPOINTS);
    checkpointed.keySet().retainAll(rows);
    if (!checkpointed.isEmpty()) {
      System.err.printf("filling filters of %,d MiB%n", filterMebibytes);
      Path filled = Files.createTempDirectory(work, "filled");
      PrefillRun.Result prefill =
          ChildJvm.withHeap(Math.max(heapMebibytes, 4 * filterMebibytes))
              .run(
                  PrefillRun.class,
                  new PrefillRun.Spec(filterMebibytes * MEBIBYTE, filled.toString()),
                  PrefillRun.Result.class);
      for (Subject subject : checkpointed.values()) {
        measured.checkpointed.put(subject, checkpointed(subject, prefill, work));
      }
      FileUtils.deleteDirectory(filled.toFile());
    }
    if (svg != null) {
      for (int divisor : PLOT_DIVISORS) {
        for (Subject subject : Subject.PLOTTED) {
          measured.pipelines.add(run("plot", subject, keys / divisor, true, work));
        }
      }
    }
    return measured;
  }

  private PipelineRun.Result run(String why, Subject subject, long ofRun, boolean sizes, Path work)
      throws Exception {
    System.err.printf("%s, %,d keys, %s: ", why, ofRun, subject.title());
    // RocksDB is so slow that a fifth of the keys is enough for the JIT.
    long warmUp = Math.max(1, warmUpKeys / (subject.backend() == Backend.ROCKSDB ? 5 : 1));
    PipelineRun.Result result =
        ChildJvm.withHeap(heapMebibytes)
            .runIn(
                work,
                PipelineRun.class,
                directory ->
                    PipelineRun.Spec.of(subject, ofRun, warmUp, flink(), directory)
                        .withSizes(sizes),
                PipelineRun.Result.class);
    System.err.printf("%.2f M records/s%n", result.recordsPerSecond() / 1e6);
    return result;
  }

  private CheckpointedRates checkpointed(Subject subject, PrefillRun.Result prefill, Path work)
      throws IOException, InterruptedException {
    long heap = prefill.filterBytes() * 5 / 2 / MEBIBYTE + 512;
    List<CheckpointedRun.Result> results = new ArrayList<>();
    try {
      for (int round = 1; round <= rounds; round++) {
        System.err.printf(
            "round %d, %s, filters filled, %,d keys a stage: ", round, subject.title(), keys);
        CheckpointedRun.Result result =
            ChildJvm.withHeap(heap)
                .runIn(
                    work,
                    CheckpointedRun.class,
                    directory ->
                        new CheckpointedRun.Spec(
                            PipelineRun.Spec.of(subject, keys, warmUpKeys, flink(), directory)
                                .from(prefill),
                            CHECKPOINT_MILLIS),
                    CheckpointedRun.Result.class);
        System.err.printf(
            "%.2f M records/s without checkpoints, %.2f M with%n",
            result.rateWithout() / 1e6, result.rateWith() / 1e6);
        results.add(result);
      }
    } catch (ChildJvm.FailedException e) {
      String failure = "failed in a heap of %,d MiB: %s".formatted(heap, e.getMessage());
      return new CheckpointedRates(prefill, heap, results, failure);
    }
    return new CheckpointedRates(prefill, heap, results, null);
  }
}
