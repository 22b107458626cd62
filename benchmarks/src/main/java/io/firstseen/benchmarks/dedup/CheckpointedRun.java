package io.firstseen.benchmarks.dedup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;

/**
 * The process that compares a job with checkpoints to the same job without any. Its stages go
 * without and with them by turns, so that both have the same filters, the same compiled code, and
 * neighbours that are as loud.
 */
final class CheckpointedRun {
  /** One without checkpoints and one with them, for the compiler. */
  private static final int WARM_UP_STAGES = 2;

  private static final int MEASURED_STAGES = 4;

  private final Spec spec;
  private final LocalFlink flink;
  private final List<Stage> stages = new ArrayList<>();
  private final Stages progress;
  private final long[] records = new long[2];
  private final long[] nanos = new long[2];
  private int checkpoints;
  private long checkpointNanos;

  /**
   * @param pipeline the job; its keys are new ones of each stage that is measured
   * @param checkpointMillis time from the start of one checkpoint to that of the next
   */
  record Spec(PipelineSpec pipeline, long checkpointMillis) {}

  /**
   * @param recordsPerSecondWithout in the stages without checkpoints
   * @param recordsPerSecondWith in the stages with them
   * @param checkpoints that were completed in measured stages, or begun there
   * @param meanMillis from trigger to end; 0 if there were none
   */
  record Result(
      double recordsPerSecondWithout,
      double recordsPerSecondWith,
      int checkpoints,
      long meanMillis) {}

  private CheckpointedRun(Spec spec, LocalFlink flink) {
    this.spec = spec;
    this.flink = flink;
    long known = 0;
    for (int stage = 0; stage < WARM_UP_STAGES + MEASURED_STAGES; stage++) {
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
    PipelineSpec pipeline = spec.pipeline();
    try (LocalFlink flink = new LocalFlink(Path.of(pipeline.directory()), pipeline.flink())) {
      return new CheckpointedRun(spec, flink).run();
    }
  }

  private Result run() throws Exception {
    PipelineSpec pipeline = spec.pipeline();
    JobID job =
        flink.start(
            Pipelines.build(
                pipeline.subject(), pipeline.capacity(), stages, flink.environment(pipeline)));
    for (int stage = 0; stage < stages.size(); stage++) {
      if (stage == WARM_UP_STAGES) {
        checkpoints = 0;
        checkpointNanos = 0;
      }
      long took = stage % 2 == 0 ? measure(job, stage) : measureUnderCheckpoints(job, stage);
      if (stage >= WARM_UP_STAGES) {
        records[stage % 2] += stages.get(stage).records();
        nanos[stage % 2] += took;
      }
    }
    progress.end();
    flink.awaitEnd(job);
    return new Result(
        records[0] * 1e9 / nanos[0],
        records[1] * 1e9 / nanos[1],
        checkpoints,
        checkpoints == 0 ? 0 : checkpointNanos / checkpoints / 1_000_000);
  }

  /** Nanoseconds that a stage takes. */
  private long measure(JobID job, int stage) throws Exception {
    long start = System.nanoTime();
    flink.await(job, progress.begin(stage));
    return System.nanoTime() - start;
  }

  /** The same, with checkpoints; returns when the last one is complete, which is not counted. */
  private long measureUnderCheckpoints(JobID job, int stage) throws Exception {
    ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    ScheduledFuture<?> ticks =
        clock.scheduleAtFixedRate(
            () -> checkpoint(job),
            spec.checkpointMillis() / 2,
            spec.checkpointMillis(),
            TimeUnit.MILLISECONDS);
    long took;
    try {
      took = measure(job, stage);
    } finally {
      clock.shutdown();
      clock.awaitTermination(1, TimeUnit.HOURS);
    }
    if (!ticks.isCancelled()) {
      // One has failed, or they would have gone on until they were cancelled.
      ticks.get();
    }
    return took;
  }

  private void checkpoint(JobID job) {
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
