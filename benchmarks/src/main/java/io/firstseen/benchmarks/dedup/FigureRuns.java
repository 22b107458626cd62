package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.dedup.Measurements.CheckpointedRates;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.ChildJvm.FailedException;
import io.firstseen.benchmarks.shared.FlinkSettings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.flink.util.FileUtils;

/**
 * Runs the measurements that rows need, one JVM after the other, and prints progress to a stream.
 */
final class FigureRuns {
  private static final long MEBIBYTE = 1 << 20;
  private static final int EXPIRY_RECORDS = 4_000_000;
  private static final int EXPIRY_ROUNDS = 5;
  private static final long CHECKPOINT_MILLIS = 1000;

  /** The plot shows runs with the keys divided by these, and with all keys. */
  private static final int[] PLOT_DIVISORS = {10, 5, 2};

  private final Settings settings;
  private final Path work;
  private final PrintStream progress;
  private final Measurements measured;

  /**
   * How to run.
   *
   * @param keys number of different keys
   * @param rounds runs of each subject
   * @param warmUpKeys of the warm-up before each measured job or stage, on heap
   * @param flink the settings of Flink
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

  FigureRuns(Settings settings, Path work, PrintStream progress) {
    this.settings = settings;
    this.work = work;
    this.progress = progress;
    this.measured = new Measurements(settings.keys());
  }

  /**
   * Measures the given rows.
   *
   * @param plot whether to also run with fewer keys
   */
  Measurements measure(Set<Row> rows, boolean plot)
      throws IOException, InterruptedException, FailedException {
    Set<Subject> subjects = EnumSet.noneOf(Subject.class);
    rows.forEach(row -> subjects.addAll(row.subjects()));
    if (plot) {
      subjects.addAll(Subject.PLOTTED);
    }
    List<Subject> order = new ArrayList<>(subjects);
    if (!order.isEmpty()) {
      // A virtual machine may have to claim its memory first, so the first run does not count.
      run("not counted", order.get(order.size() - 1), settings.keys(), false);
    }
    for (int round = 1; round <= settings.rounds(); round++) {
      for (Subject subject : order) {
        measured.add(run("round " + round, subject, settings.keys(), round == 1));
      }
      Collections.rotate(order, 1);
    }
    if (rows.stream().anyMatch(Row.OF_EXPIRY::contains)) {
      measured.set(expiry());
    }
    Map<Row, Subject> checkpointed = new EnumMap<>(Row.OF_CHECKPOINTS);
    checkpointed.keySet().retainAll(rows);
    if (!checkpointed.isEmpty()) {
      Path filled = Files.createTempDirectory(work, "filled");
      PrefillRun.Result prefill = prefill(filled);
      for (Subject subject : checkpointed.values()) {
        measured.set(subject, checkpointed(subject, prefill));
      }
      FileUtils.deleteDirectory(filled.toFile());
    }
    if (plot) {
      for (int divisor : PLOT_DIVISORS) {
        for (Subject subject : Subject.PLOTTED) {
          measured.add(run("plot", subject, settings.keys() / divisor, true));
        }
      }
    }
    return measured;
  }

  private PipelineResult run(String why, Subject subject, long keys, boolean sizes)
      throws IOException, InterruptedException, FailedException {
    begin("%s, %,d keys, %s: ", why, keys, subject.title());
    // RocksDB is so slow that a fifth of the keys is enough for the JIT.
    int divisor = subject.backend() == Backend.ROCKSDB ? 5 : 1;
    long warmUpKeys = Math.max(1, settings.warmUpKeys() / divisor);
    PipelineResult result =
        ChildJvm.withHeap(settings.heapMebibytes())
            .runIn(
                work,
                PipelineRun.class,
                directory ->
                    PipelineSpec.of(subject, keys, warmUpKeys, settings.flink(), directory)
                        .withSizes(sizes),
                PipelineResult.class);
    say("%.2f M records/s", result.recordsPerSecond() / 1e6);
    return result;
  }

  private ExpiryRun.Result expiry() throws IOException, InterruptedException, FailedException {
    say("expiry in one task");
    int keys = (int) Math.min(2 * settings.keys(), Integer.MAX_VALUE / 2);
    return ChildJvm.withHeap(settings.heapMebibytes())
        .run(
            ExpiryRun.class,
            new ExpiryRun.Spec(keys, EXPIRY_RECORDS, EXPIRY_ROUNDS),
            ExpiryRun.Result.class);
  }

  private CheckpointedRates checkpointed(Subject subject, PrefillRun.Result prefill)
      throws IOException, InterruptedException {
    long heapMebibytes = prefill.filterBytes() * 5 / 2 / MEBIBYTE + 512;
    List<CheckpointedRun.Result> rounds = new ArrayList<>();
    String failure = null;
    try {
      for (int round = 1; round <= settings.rounds(); round++) {
        rounds.add(checkpointed(subject, round, prefill, heapMebibytes));
      }
    } catch (FailedException e) {
      failure = "failed in a heap of %,d MiB: %s".formatted(heapMebibytes, e.getMessage());
    }
    return new CheckpointedRates(prefill, heapMebibytes, rounds, failure);
  }

  private PrefillRun.Result prefill(Path directory)
      throws IOException, InterruptedException, FailedException {
    say("filling filters of %,d MiB", settings.filterMebibytes());
    return ChildJvm.withHeap(Math.max(settings.heapMebibytes(), 4 * settings.filterMebibytes()))
        .run(
            PrefillRun.class,
            new PrefillRun.Spec(settings.filterMebibytes() * MEBIBYTE, directory.toString()),
            PrefillRun.Result.class);
  }

  private CheckpointedRun.Result checkpointed(
      Subject subject, int round, PrefillRun.Result prefill, long heapMebibytes)
      throws IOException, InterruptedException, FailedException {
    begin(
        "round %d, %s, filters filled, %,d keys a stage: ",
        round, subject.title(), settings.keys());
    CheckpointedRun.Result result =
        ChildJvm.withHeap(heapMebibytes)
            .runIn(
                work,
                CheckpointedRun.class,
                directory ->
                    new CheckpointedRun.Spec(
                        PipelineSpec.of(
                                subject,
                                settings.keys(),
                                settings.warmUpKeys(),
                                settings.flink(),
                                directory)
                            .from(prefill),
                        CHECKPOINT_MILLIS),
                CheckpointedRun.Result.class);
    say(
        "%.2f M records/s without checkpoints, %.2f M with",
        result.rateWithout() / 1e6, result.rateWith() / 1e6);
    return result;
  }

  /** Prints what runs now; the result will be printed on the same line. */
  private void begin(String format, Object... values) {
    progress.printf(Locale.ROOT, format, values);
    progress.flush();
  }

  private void say(String format, Object... values) {
    progress.println(String.format(Locale.ROOT, format, values));
  }
}
