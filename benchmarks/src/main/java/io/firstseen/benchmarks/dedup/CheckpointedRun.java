package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.Stage;
import io.firstseen.benchmarks.shared.Stages;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.JobClient;

/**
 * The process that compares a job with and without checkpoints, in alternating stages of one run.
 * So both have the same filters, the same compiled code, and similar load from other programs.
 */
final class CheckpointedRun {
  /** Which stages run with checkpoints. The first two are for warm-up and do not count. */
  private static final boolean[] WITH = {false, true, false, true, true, false};

  private static final int WARM_UP_STAGES = 2;

  private final Spec spec;
  private final LocalFlink flink;
  private final List<Stage> stages = new ArrayList<>();
  private final Stages progress;
  private int checkpoints;
  private long checkpointNanos;

  /**
   * What to run.
   *
   * @param pipeline the job; its number of keys equals the new keys of each measured stage
   * @param checkpointMillis the interval between the starts of two checkpoints
   */
  record Spec(PipelineRun.Spec pipeline, long checkpointMillis) {}

  /**
   * What was measured.
   *
   * @param without records per second in each stage without checkpoints
   * @param with records per second in each stage with checkpoints
   * @param checkpoints the number of checkpoints begun in the stages with them
   * @param meanMillis the mean time of a checkpoint from its trigger to its end; 0 if there were
   *     none
   */
  record Result(List<Double> without, List<Double> with, int checkpoints, long meanMillis) {
    double rateWithout() {
      return harmonicMean(without);
    }

    double rateWith() {
      return harmonicMean(with);
    }

    /** The rate with checkpoints divided by that without; NaN if there was no checkpoint. */
    double ratio() {
      return checkpoints == 0 ? Double.NaN : rateWith() / rateWithout();
    }

    /** The mean rate of stages that have equal numbers of records. */
    private static double harmonicMean(List<Double> rates) {
      return rates.size() / rates.stream().mapToDouble(rate -> 1 / rate).sum();
    }
  }

  private CheckpointedRun(Spec spec, LocalFlink flink) {
    this.spec = spec;
    this.flink = flink;
    long known = 0;
    for (int stage = 0; stage < WITH.length; stage++) {
      long keys = stage < WARM_UP_STAGES ? spec.pipeline().warmUpKeys() : spec.pipeline().keys();
      stages.add(Stage.halfNew(known, keys));
      known += keys;
    }
    this.progress = Stages.prepare(stages.size(), spec.pipeline().flink().parallelism());
  }

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Result run(Spec spec) throws Exception {
    PipelineRun.Spec pipeline = spec.pipeline();
    try (LocalFlink flink = new LocalFlink(Path.of(pipeline.directory()), pipeline.flink())) {
      return new CheckpointedRun(spec, flink).run();
    }
  }

  private Result run() throws Exception {
    PipelineRun.Spec pipeline = spec.pipeline();
    JobClient job =
        flink.start(
            Pipelines.build(
                pipeline.subject(), pipeline.capacity(), stages, pipeline.environment(flink)));
    List<Double> without = new ArrayList<>();
    List<Double> with = new ArrayList<>();
    for (int stage = 0; stage < WITH.length; stage++) {
      if (stage == WARM_UP_STAGES) {
        checkpoints = 0;
        checkpointNanos = 0;
      }
      double seconds = WITH[stage] ? measureUnderCheckpoints(job, stage) : measure(job, stage);
      if (stage >= WARM_UP_STAGES) {
        (WITH[stage] ? with : without).add(stages.get(stage).records() / seconds);
      }
    }
    long records = stages.stream().mapToLong(Stage::records).sum();
    PipelineRun.checkRecordsAtSink(pipeline.subject(), records / 2, progress.recordsAtSinks());
    progress.end();
    flink.awaitEnd(job);
    return new Result(
        without,
        with,
        checkpoints,
        checkpoints == 0 ? 0 : checkpointNanos / checkpoints / 1_000_000);
  }

  /** Runs a stage and returns the seconds that it takes. */
  private double measure(JobClient job, int stage) throws Exception {
    long start = System.nanoTime();
    flink.await(job, progress.begin(stage));
    return (System.nanoTime() - start) / 1e9;
  }

  /**
   * Like {@link #measure}, with checkpoints. Waits for the last checkpoint to complete; that wait
   * is not counted.
   */
  private double measureUnderCheckpoints(JobClient job, int stage) throws Exception {
    ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    ScheduledFuture<?> ticks =
        clock.scheduleAtFixedRate(
            () -> checkpoint(job),
            spec.checkpointMillis() / 2,
            spec.checkpointMillis(),
            TimeUnit.MILLISECONDS);
    double seconds;
    try {
      seconds = measure(job, stage);
    } finally {
      clock.shutdown();
      clock.awaitTermination(1, TimeUnit.HOURS);
    }
    if (!ticks.isCancelled()) {
      // The timer ended before it was cancelled, so a checkpoint has failed.
      ticks.get();
    }
    return seconds;
  }

  private void checkpoint(JobClient job) {
    long start = System.nanoTime();
    try {
      flink.checkpoint(job);
    } catch (Exception e) {
      throw new IllegalStateException("a checkpoint failed: " + e.getMessage(), e);
    }
    checkpoints++;
    checkpointNanos += System.nanoTime() - start;
  }
}
