package io.firstseen.benchmarks.recovery;

import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.ProcessMemory;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.benchmarks.shared.UrlSerializer;
import io.firstseen.embedded.FlinkPath;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.util.function.RunnableWithException;
import org.jspecify.annotations.Nullable;

/**
 * The process that starts a job from known keys, again and again, on one state backend: at
 * parallelism 1 and 2, from savepoints of its own and after a failure.
 */
final class RecoveryRun {
  private static final int MAX_TASKS = 2;

  /** Numbers that a job may use for its records; the next one begins after them. */
  private static final long NUMBERS_OF_JOB = 1L << 40;

  private final Spec spec;
  private final LocalFlink flink;
  private final List<Start> starts = new ArrayList<>();
  private int jobs;

  /**
   * What to run.
   *
   * @param keys known keys, which is also the capacity
   * @param savepoint of the known keys
   * @param seconds for how long each job is watched after its first record
   * @param pageCacheBytes of all tasks together; used on RocksDB
   * @param managedMemoryMebibytes RocksDB's own memory, of all tasks together
   */
  record Spec(
      Backend backend,
      long keys,
      String savepoint,
      double seconds,
      long pageCacheBytes,
      int managedMemoryMebibytes,
      String directory) {}

  /**
   * A measured start, or restart.
   *
   * @param what from where it began
   * @param tasksRunSeconds until all tasks ran, their state restored
   * @param firstRecordSeconds until the first record was decided
   * @param fullRateSeconds until the beginning of the first second at 90 % of the steady rate
   * @param steadyRate records per second in the second half of the run
   * @param restoredBytes files of the savepoint or checkpoint
   */
  record Start(
      String what,
      int parallelism,
      double tasksRunSeconds,
      double firstRecordSeconds,
      double fullRateSeconds,
      double steadyRate,
      long restoredBytes) {}

  /**
   * All that was measured.
   *
   * @param keys known keys at the beginning
   * @param heapBytes live objects of a job with the known keys; on RocksDB no page is cached yet
   * @param checkpointBytes files of a whole checkpoint of one task
   * @param checkpointSeconds how long it took, at the full rate
   * @param starts the starts in their order
   */
  record Result(
      Backend backend,
      long keys,
      long heapBytes,
      long checkpointBytes,
      double checkpointSeconds,
      List<Start> starts) {}

  static final String CANONICAL = "canonical savepoint of known keys";
  static final String OF_ONE = "savepoint of one task";
  static final String OF_TWO = "savepoint of two tasks";
  static final String FAILURE = "failure of a task";

  private RecoveryRun(Spec spec, LocalFlink flink) {
    this.spec = spec;
    this.flink = flink;
  }

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Result run(Spec spec) throws Exception {
    FlinkSettings cluster = new FlinkSettings(MAX_TASKS, spec.managedMemoryMebibytes(), true);
    try (LocalFlink flink = new LocalFlink(Path.of(spec.directory()), cluster)) {
      return new RecoveryRun(spec, flink).run();
    }
  }

  private Result run() throws Exception {
    Path known = Path.of(URI.create(spec.savepoint()));
    // Compiles the job's code, so that starts are compared and not compilers.
    new Running(MAX_TASKS, null).watch("warm-up", 0).cancel();
    UrlNumbers.slowDown(true);
    Running empty = new Running(1, null).start();
    long heapBefore = ProcessMemory.liveHeapBytes();
    empty.cancel();
    Running idle = new Running(1, spec.savepoint()).start();
    long heapBytes = ProcessMemory.liveHeapBytes() - heapBefore;
    Path ofOne = flink.savepoint(idle.job, SavepointFormatType.NATIVE);
    idle.cancel();
    UrlNumbers.slowDown(false);

    Running busy = new Running(1, spec.savepoint()).start();
    long before = System.nanoTime();
    long checkpointBytes = flink.checkpointBytes(busy.job);
    double checkpointSeconds = (System.nanoTime() - before) / 1e9;
    busy.cancel();

    new Running(1, spec.savepoint()).watch(CANONICAL, LocalFlink.bytes(known)).cancel();
    new Running(1, FlinkPath.of(ofOne)).watch(OF_ONE, LocalFlink.bytes(ofOne)).fail().cancel();
    Running scaledOut =
        new Running(MAX_TASKS, FlinkPath.of(ofOne)).watch(OF_ONE, LocalFlink.bytes(ofOne));
    Path ofTwo = flink.savepoint(scaledOut.job, SavepointFormatType.NATIVE);
    scaledOut.fail().cancel();
    new Running(1, FlinkPath.of(ofTwo)).watch(OF_TWO, LocalFlink.bytes(ofTwo)).cancel();
    return new Result(
        spec.backend(),
        spec.keys(),
        heapBytes,
        checkpointBytes,
        checkpointSeconds,
        starts.subList(1, starts.size()));
  }

  /** One job after its submission. */
  private final class Running {
    private final int parallelism;
    private final @Nullable String savepoint;
    private JobClient job;

    Running(int parallelism, @Nullable String savepoint) {
      this.parallelism = parallelism;
      this.savepoint = savepoint;
    }

    /** Starts the job, and waits until its first record was decided. */
    Running start() throws Exception {
      Decisions.forget();
      job = flink.start(graph(parallelism, savepoint));
      while (Decisions.since(0) == 0) {
        TimeUnit.MILLISECONDS.sleep(5);
        flink.failIfEnded(job);
      }
      return this;
    }

    /** Starts the job, and waits until it has been watched for long enough. */
    Running watch(String what, long restoredBytes) throws Exception {
      Decisions.forget();
      StreamGraph graph = graph(parallelism, savepoint);
      long begin = System.nanoTime();
      measure(what, begin, 0, restoredBytes, () -> job = flink.start(graph));
      return this;
    }

    /** Takes a checkpoint, makes a task fail, and watches the restart. */
    Running fail() throws Exception {
      long bytes = flink.checkpointBytes(job);
      long begin = System.nanoTime();
      UrlNumbers.failOnce();
      measure(FAILURE, begin, 1, bytes, () -> flink.awaitRestart(job));
      return this;
    }

    private void measure(
        String what,
        long begin,
        int attempt,
        long restoredBytes,
        RunnableWithException untilTasksRun)
        throws Exception {
      ExecutorService watcher = Executors.newSingleThreadExecutor();
      try {
        CompletableFuture<Timeline> watched =
            CompletableFuture.supplyAsync(
                () -> Timeline.watch(begin, attempt, spec.seconds()), watcher);
        untilTasksRun.run();
        double tasksRun = (System.nanoTime() - begin) / 1e9;
        flink.await(job, watched);
        Timeline timeline = watched.get();
        starts.add(
            new Start(
                what,
                parallelism,
                tasksRun,
                timeline.firstRecord(),
                timeline.fullRate(Math.min(1, spec.seconds() / 4)),
                timeline.steadyRate(),
                restoredBytes));
      } finally {
        watcher.shutdownNow();
      }
    }

    void cancel() throws Exception {
      flink.cancel(job);
    }
  }

  private StreamGraph graph(int parallelism, @Nullable String savepoint) {
    FlinkSettings settings =
        new FlinkSettings(parallelism, spec.managedMemoryMebibytes(), /* objectReuse= */ true);
    StreamExecutionEnvironment env =
        flink.environment(spec.backend(), settings, /* outliveTheJob= */ true, savepoint);
    Configuration restarts = new Configuration();
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
    env.configure(restarts);
    env.setMaxParallelism(Firstseen.DEFAULT_SHARDS);
    // The known keys have the numbers below.
    long first = NUMBERS_OF_JOB * ++jobs;
    DataStream<Url> urls =
        env.fromSource(
                new NumberSequenceSource(first, first + NUMBERS_OF_JOB - 1),
                WatermarkStrategy.noWatermarks(),
                "numbers")
            // Each job makes records of its own, so the state of this source is not for the next.
            .uid("numbers-" + jobs)
            .map(new UrlNumbers(first))
            .returns(UrlSerializer.TYPE)
            .uid("urls");
    DedupStreams<Url> dedup =
        Firstseen.dedup(urls)
            .key(Url::utf8)
            .capacity(spec.keys())
            .falsePositiveRate(Pipelines.FALSE_POSITIVE_RATE)
            .pageCacheBytes(spec.pageCacheBytes() / parallelism)
            .apply();
    dedup.accepted().sinkTo(new Decisions.Counting<>()).uid("accepted");
    dedup.duplicates().sinkTo(new Decisions.Counting<>()).uid("duplicates");
    return env.getStreamGraph();
  }
}
