package io.firstseen.benchmarks.billions;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.billions.BillionsRun.CheckpointedKeys;
import io.firstseen.benchmarks.billions.BillionsRun.Part;
import io.firstseen.benchmarks.billions.BillionsRun.Restart;
import io.firstseen.benchmarks.billions.BillionsRun.Result;
import io.firstseen.benchmarks.billions.BillionsRun.Sample;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.OptionChecks;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.operators.dedup.Firstseen;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Prints the figures of a dedup of up to billions of keys on one machine: rate, memory,
 * checkpoints, false drops and restart. Exits with status 1 if a bound is missed.
 */
@Command(
    description =
        "Inserts keys into a dedup in a separate JVM, with a checkpoint each minute, and starts"
            + " again from the last one. Status 1 if a bound is missed.")
public final class BillionsFigures extends FiguresProgram {
  private static final int MIN_KEYS = 10_000;

  /**
   * Bytes of pages for each key at the rate of the run; docs/operations/state.md has the figures.
   */
  private static final double PAGE_BYTES_A_KEY = 1.9;

  /** A restart that takes longer has missed its bound by far. */
  private static final double RESTART_MINUTES = 3;

  /** Fewer arenas of the C library keep less memory that is not used. */
  private static final Map<String, String> ENVIRONMENT = Map.of("MALLOC_ARENA_MAX", "2");

  /**
   * What is required.
   *
   * @param deviation of the rate of a part from the mean, as a part of the mean
   * @param sigmas between false drops and the formula
   * @param gapMillis the longest call
   * @param checkpointSeconds the longest checkpoint
   * @param checkpointBytes the bytes of a key in the last one
   * @param fullRate the part that a restart must reach of the rate that the first run would have
   *     gone on with
   * @param restartSeconds until it does
   * @param residentBytes by the most keys that they must be enough for, ascending
   */
  record Bounds(
      double deviation,
      double sigmas,
      double gapMillis,
      double checkpointSeconds,
      double checkpointBytes,
      double fullRate,
      double restartSeconds,
      List<Map.Entry<Long, Double>> residentBytes) {
    static final Bounds ASKED_FOR =
        new Bounds(
            0.15,
            5,
            1_000,
            15,
            2.1,
            0.9,
            20,
            List.of(Map.entry(1_000_000_000L, 4e9), Map.entry(4_000_000_000L, 12e9)));
  }

  @Option(
      names = "--keys",
      defaultValue = "1000000000",
      description = "different keys, at least " + MIN_KEYS + " (default: ${DEFAULT-VALUE})")
  private long keys;

  @Option(
      names = "--backend",
      defaultValue = "heap",
      description = "heap or rocksdb (default: ${DEFAULT-VALUE})")
  private Backend backend;

  @Option(
      names = "--parallelism",
      defaultValue = "1",
      description = "tasks of each operator (default: ${DEFAULT-VALUE})")
  private int parallelism;

  @Option(
      names = "--heap",
      paramLabel = "MIB",
      description =
          "the most heap of the JVM (default: 1.25 times the pages in memory and 512 MiB)")
  private Long heapMebibytes;

  @Option(
      names = "--cache-fraction",
      defaultValue = "0.125",
      description =
          "the part of the pages that is cached, with --backend rocksdb (default:"
              + " ${DEFAULT-VALUE})")
  private double cacheFraction;

  @Option(
      names = "--managed-memory",
      paramLabel = "MIB",
      defaultValue = "1024",
      description = "RocksDB's own memory (default: ${DEFAULT-VALUE})")
  private int managedMemoryMebibytes;

  @Option(
      names = "--checkpoint-interval",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "between the starts of two checkpoints (default: ${DEFAULT-VALUE})")
  private double checkpointSeconds;

  @Option(
      names = "--minutes",
      defaultValue = "600",
      description = "stop after this time, and report how far it came (default: ${DEFAULT-VALUE})")
  private double minutes;

  @Option(names = "--svg", paramLabel = "FILE", description = "draw them there")
  private Path svg;

  private final Bounds bounds;

  BillionsFigures(Bounds bounds) {
    this.bounds = bounds;
  }

  public static void main(String[] arguments) {
    exit(new BillionsFigures(Bounds.ASKED_FOR), arguments);
  }

  @Override
  protected void check(OptionChecks checks) {
    checks.atLeast("--keys", MIN_KEYS, keys);
    checks.atLeast("--parallelism", 1, parallelism);
    checks.positive("--cache-fraction", 1, cacheFraction);
    checks.positive("--checkpoint-interval", Double.POSITIVE_INFINITY, checkpointSeconds);
    checks.positive("--minutes", Double.POSITIVE_INFINITY, minutes);
    checks.canBeWritten("--svg", svg);
  }

  @Override
  protected void measure(Path work) throws Exception {
    measure(spec(work));
  }

  private void measure(BillionsRun.Spec spec) throws Exception {
    Result result = child(spec, Result.class);
    rates(result);
    memory(result);
    checkpoints(result);
    double lastRate = result.parts().isEmpty() ? meanRate(result) : lastPart(result).rate();
    List<Double> rates =
        Stream.of(result.continuedRate(), records(lastRate), records(meanRate(result)))
            .map(rate -> bounds.fullRate * rate)
            .toList();
    Restart restart =
        child(
            spec.from(result.lastCheckpoint().checkpoint().path(), rates, RESTART_MINUTES),
            Restart.class);
    figures.title("Restart from the last checkpoint, in a new JVM");
    figures.plain("start to the first record", restart.firstRecordSeconds(), "s");
    figures.plain(
        "records per second of the first run, without the restart",
        result.continuedRate() / 1e6,
        "M");
    String toRate = "start to a second at " + bounds.fullRate + " of ";
    double seconds = restart.rateSeconds().get(0);
    figures.atMost(toRate + "that rate", seconds, bounds.restartSeconds, "s");
    figures.plain(toRate + "the last part's rate", restart.rateSeconds().get(1), "s");
    figures.plain(toRate + "the mean rate", restart.rateSeconds().get(2), "s");
    figures.plain("highest resident memory", restart.highestResidentBytes() / 1e9, "GB");
    figures.detail("specification", spec);
    figures.detail("run", result);
    figures.detail("restart", restart);
    if (svg != null) {
      Files.writeString(svg, BillionsPlot.svg(spec, result));
    }
  }

  private BillionsRun.Spec spec(Path work) {
    double pages = PAGE_BYTES_A_KEY * keys;
    boolean onHeap = backend == Backend.HASHMAP;
    return new BillionsRun.Spec(
        keys / UrlStream.NEW_KEYS * UrlStream.NEW_KEYS,
        keys,
        backend,
        new FlinkSettings(parallelism, onHeap ? 1 : managedMemoryMebibytes, true),
        onHeap ? 0 : (long) (cacheFraction * pages / parallelism),
        (long) (checkpointSeconds * 1000),
        minutes,
        work.toString(),
        null,
        List.of());
  }

  /** Records a second at a rate of new keys. */
  private static double records(double newKeysPerSecond) {
    return newKeysPerSecond * UrlStream.GROUP / UrlStream.NEW_KEYS;
  }

  private <R> R child(BillionsRun.Spec spec, Class<R> answer) throws Exception {
    double pages = PAGE_BYTES_A_KEY * keys * (backend == Backend.HASHMAP ? 1 : cacheFraction);
    long heap = heapMebibytes == null ? 512 + (long) (1.25 * pages / (1 << 20)) : heapMebibytes;
    return ChildJvm.withOptions(jvmOptions(heap))
        .environment(ENVIRONMENT)
        .run(BillionsRun.class, spec, answer);
  }

  private static List<String> jvmOptions(long heapMebibytes) {
    return List.of("-Xmx" + heapMebibytes + "m", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError");
  }

  private void rates(Result result) {
    Sample last = result.last();
    figures.title(
        "%,d keys in %,d records and %,.0f s%s"
            .formatted(
                last.keys(),
                last.records(),
                last.seconds(),
                result.isComplete() ? "" : ", STOPPED before all keys were in"));
    double mean = meanRate(result);
    double worst = 0;
    for (Part part : result.parts()) {
      figures.plain(
          "new keys per second, to %,d keys".formatted(part.end()), part.rate() / 1e6, "M");
      worst = Math.max(worst, Math.abs(part.rate() / mean - 1));
    }
    figures.plain("new keys per second, all", mean / 1e6, "M");
    figures.plain("records per second, all", last.records() / last.seconds() / 1e6, "M");
    if (!result.parts().isEmpty()) {
      figures.atMost("worst part from the mean", worst, bounds.deviation, "");
    }
    figures.atMost(
        "longest gap between records at the sink",
        result.longestGapNanos() / 1e6,
        bounds.gapMillis,
        "ms");
    falseDrops(result);
  }

  private void falseDrops(Result result) {
    if (parallelism > 1 && !result.isComplete()) {
      // The events that several tasks have seen by then are not a prefix of the stream.
      return;
    }
    double expected = expectedFalseDrops(result.last().keys());
    double sigma = Math.sqrt(expected);
    double dropped = (double) result.last().falseDrops();
    figures.plain("false drops", dropped, "");
    figures.plain("by the formula, 2 n / 2^P summed over all new keys", expected, "");
    figures.atMost(
        "apart, in standard deviations", Math.abs(dropped - expected) / sigma, bounds.sigmas, "");
  }

  /** The expected number of new keys that are dropped while this many arrive. */
  private double expectedFalseDrops(long arriving) {
    int shards = Firstseen.DEFAULT_SHARDS;
    CuckooShape shape =
        CuckooShape.forCapacity((keys - 1) / shards + 1, BillionsRun.FALSE_POSITIVE_RATE);
    int steps = 1 << 16;
    double step = (double) arriving / steps;
    double stored = 0;
    for (int i = 0; i < steps; i++) {
      double dropped = shape.predictedFalsePositiveRate((long) ((stored + step / 2) / shards));
      stored += step * (1 - dropped);
    }
    return arriving - stored;
  }

  private void memory(Result result) {
    long held = result.last().accepted();
    figures.title("Memory");
    figures.plain("live heap", result.liveHeapBytes() / 1e9, "GB");
    figures.plain("live heap, bytes per key", (double) result.liveHeapBytes() / held, "");
    double highest = result.highestResidentBytes() / 1e9;
    bounds.residentBytes.stream()
        .filter(bound -> keys <= bound.getKey())
        .findFirst()
        .ifPresentOrElse(
            bound -> figures.atMost("highest resident", highest, bound.getValue() / 1e9, "GB"),
            () -> figures.plain("highest resident", highest, "GB"));
    figures.plain(
        "highest resident / live heap",
        (double) result.highestResidentBytes() / result.liveHeapBytes(),
        "");
  }

  private void checkpoints(Result result) {
    figures.title("Checkpoints");
    double longest = 0;
    for (CheckpointedKeys one : result.checkpoints()) {
      double seconds = one.checkpoint().millis() / 1e3;
      figures.plain("at %,d keys".formatted(one.keys()), seconds, "s");
      longest = Math.max(longest, seconds);
    }
    figures.atMost("longest", longest, bounds.checkpointSeconds, "s");
    figures.atMost(
        "bytes per key, the last",
        (double) result.lastCheckpoint().checkpoint().bytes() / result.last().accepted(),
        bounds.checkpointBytes,
        "");
  }

  private static double meanRate(Result result) {
    return result.last().keys() / result.last().seconds();
  }

  private static Part lastPart(Result result) {
    return result.parts().get(result.parts().size() - 1);
  }
}
