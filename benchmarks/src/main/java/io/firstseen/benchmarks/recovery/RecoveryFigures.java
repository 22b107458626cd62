package io.firstseen.benchmarks.recovery;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.dedup.KnownKeysRun;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.OptionChecks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Prints how many seconds a dedup with many keys takes from its start, from a change of its
 * parallelism, or from the failure of a task to its full rate.
 */
@Command(
    description = {
      "Prints seconds until all tasks run, until the first record is decided, and until the full"
          + " rate (the beginning of the first second at 90 %% of the steady rate), of a dedup with"
          + " many keys: from a savepoint at parallelism 1 and 2, and after a failure.",
      "",
      "The state is made from hashes. The jobs then read URLs of 85 bytes, half of them new. Each"
          + " backend has a separate JVM, in which an empty job has run before.",
      ""
    })
public final class RecoveryFigures extends FiguresProgram {
  @Option(
      names = "--keys",
      paramLabel = "N",
      defaultValue = "100000000",
      description = "Known keys, at least 1000 (${DEFAULT-VALUE}).")
  private long keys;

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      split = ",",
      defaultValue = "heap,rocksdb",
      description = "heap, rocksdb or both (${DEFAULT-VALUE}).")
  private List<Backend> backends;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "20",
      description = "How long each job is watched after its first record (${DEFAULT-VALUE}).")
  private double seconds;

  @Option(
      names = "--cached",
      paramLabel = "SHARE",
      defaultValue = "1",
      description =
          "The share of the pages that the page cache holds on RocksDB (${DEFAULT-VALUE}).")
  private double cached;

  @Option(
      names = "--heap",
      paramLabel = "MIB",
      description = "Heap of each JVM (default: 1024, and 8 bytes per key).")
  private Long heapMebibytes;

  @Option(
      names = "--managed-memory",
      paramLabel = "MIB",
      defaultValue = "256",
      description = "RocksDB's own memory (${DEFAULT-VALUE}).")
  private int managedMemoryMebibytes;

  private RecoveryFigures() {}

  public static void main(String[] arguments) {
    exit(new RecoveryFigures(), arguments);
  }

  @Override
  protected void check(OptionChecks checks) {
    checks.atLeast("--keys", 1000, keys);
    checks.atLeast("--seconds", 1, seconds);
    checks.positive("--cached", 1, cached);
    checks.atLeast("--managed-memory", 1, managedMemoryMebibytes);
    if (heapMebibytes != null) {
      checks.atLeast("--heap", 256, heapMebibytes);
    }
  }

  @Override
  protected void measure(Path work) throws Exception {
    long mebibytes = heapMebibytes == null ? 1024 + keys * 8 / (1 << 20) : heapMebibytes;
    System.err.printf("a savepoint of %,d keys%n", keys);
    KnownKeysRun.Spec known =
        new KnownKeysRun.Spec(keys, work.resolve("known").toString(), /* exact= */ false);
    String savepoint = ChildJvm.withHeap(mebibytes).run(KnownKeysRun.class, known, String.class);
    List<RecoveryRun.Result> results = new ArrayList<>();
    for (Backend backend : backends) {
      System.err.printf("jobs on %s%n", backend.id());
      results.add(
          ChildJvm.withHeap(mebibytes)
              .runIn(
                  work,
                  RecoveryRun.class,
                  directory ->
                      new RecoveryRun.Spec(
                          backend,
                          keys,
                          savepoint,
                          seconds,
                          pageCacheBytes(),
                          managedMemoryMebibytes,
                          directory.toString()),
                  RecoveryRun.Result.class));
    }
    figures.print(table(results));
    figures.detail("runs", results);
  }

  /** Some 2 bytes per key; a cache for all pages gets twice as much, as keys are added. */
  private long pageCacheBytes() {
    double pages = 2.0 * keys;
    return cached >= 1 ? (long) (2 * pages) + (64 << 20) : (long) (pages * cached);
  }

  static String table(List<RecoveryRun.Result> results) {
    StringBuilder table = new StringBuilder();
    for (RecoveryRun.Result result : results) {
      table.append(
          String.format(
              "%n%s, %,d keys: heap %,.1f MB, a checkpoint %,.1f MB in %.2f s%n%n",
              result.backend().id(),
              result.keys(),
              result.heapBytes() / 1e6,
              result.checkpointBytes() / 1e6,
              result.checkpointSeconds()));
      table.append(
          "| start from | tasks | MB | all tasks run, s | first record, s | full rate, s |"
              + " steady, M/s |\n"
              + "|---|---:|---:|---:|---:|---:|---:|\n");
      for (RecoveryRun.Start start : result.starts()) {
        table.append(
            String.format(
                "| %s | %d | %,.1f | %.2f | %.2f | %.2f | %.2f |%n",
                start.what(),
                start.parallelism(),
                start.restoredBytes() / 1e6,
                start.tasksRunSeconds(),
                start.firstRecordSeconds(),
                start.fullRateSeconds(),
                start.steadyRate() / 1e6));
      }
    }
    return table.toString();
  }
}
