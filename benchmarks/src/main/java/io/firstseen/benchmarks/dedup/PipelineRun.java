package io.firstseen.benchmarks.dedup;

import com.sun.management.ThreadMXBean;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.ProcessMemory;
import io.firstseen.benchmarks.shared.Stage;
import io.firstseen.benchmarks.shared.Stages;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** The process that runs one subject once, after a warm-up. */
final class PipelineRun {
  /** Between two checkpoints, one new key is added for this many keys. */
  private static final int INCREMENT_DIVISOR = 100;

  private static final int INCREMENTS = 50;

  /** Repeats whose allocation is measured. */
  private static final long MAX_REPEATS = 1_000_000;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Spec spec;
  private final LocalFlink flink;
  private final List<Stage> stages = new ArrayList<>();
  private final Stages progress;

  /**
   * One run of one subject.
   *
   * @param keys number of different keys; the source adds repeats
   * @param warmUpKeys keys of the warm-up run or stages in the same JVM
   * @param capacity live keys that Firstseen is told to expect
   * @param sizes whether to measure bytes and allocation after the rate
   * @param savepoint the savepoint to start from; null for none
   */
  record Spec(
      Subject subject,
      long keys,
      long warmUpKeys,
      long capacity,
      FlinkSettings flink,
      String directory,
      boolean sizes,
      @Nullable String savepoint) {
    /** A run from empty state without checkpoints, which measures only the rate. */
    static Spec of(
        Subject subject, long keys, long warmUpKeys, FlinkSettings flink, Path directory) {
      return new Spec(subject, keys, warmUpKeys, keys, flink, directory.toString(), false, null);
    }

    Spec withSizes(boolean newSizes) {
      return new Spec(subject, keys, warmUpKeys, capacity, flink, directory, newSizes, savepoint);
    }

    Spec from(PrefillRun.Result prefill) {
      return new Spec(
          subject,
          keys,
          warmUpKeys,
          prefill.capacity(),
          flink,
          directory,
          sizes,
          prefill.savepoint());
    }

    Spec warmUp() {
      return new Spec(subject, warmUpKeys, 0, capacity, flink, directory, false, null);
    }

    StreamExecutionEnvironment environment(LocalFlink cluster) {
      return cluster.environment(subject.backend(), flink, sizes, savepoint);
    }
  }

  /**
   * The results of one run of one subject.
   *
   * @param recordsPerSecond between the making of the first record and the arrival of the last one
   * @param recordsAtSink records that the subject forwarded as new
   * @param allocatedPerRecord bytes per record that the task of the keyed function allocated
   * @param sizes the sizes; null if they were not measured
   */
  record Result(
      Subject subject,
      long keys,
      double recordsPerSecond,
      long recordsAtSink,
      double allocatedPerRecord,
      @Nullable Sizes sizes) {}

  /**
   * Sizes in bytes after all keys were added.
   *
   * @param heapBytes live objects on the heap, less those before the first record
   * @param checkpointBytes files of the first checkpoint, incremental if the backend supports it
   * @param savepointBytes files of a savepoint in the canonical format
   * @param incrementKeys new keys after the savepoint, 1 % of all keys before each checkpoint
   * @param incrementBytes files that these checkpoints wrote
   * @param referenced bytes that these checkpoints reference, relative to the pages of a filter
   *     with all keys; mean
   * @param mostReferenced the highest of these ratios
   * @param allocatedPerRepeat bytes per record that the task of the keyed function allocated while
   *     all records were repeats
   */
  record Sizes(
      long heapBytes,
      long checkpointBytes,
      long savepointBytes,
      long incrementKeys,
      long incrementBytes,
      double referenced,
      double mostReferenced,
      double allocatedPerRepeat) {}

  private PipelineRun(Spec spec, LocalFlink flink) {
    this.spec = spec;
    this.flink = flink;
    stages.add(spec.subject().stage(spec.keys()));
    if (spec.sizes()) {
      stages.add(Stage.noneNew(spec.keys(), Math.min(spec.keys(), MAX_REPEATS)));
      long known = spec.keys();
      for (int i = 0; i < INCREMENTS; i++) {
        Stage increment = Stage.allNew(known, spec.keys() / INCREMENT_DIVISOR);
        stages.add(increment);
        known += increment.records();
      }
    }
    this.progress = Stages.prepare(stages.size(), spec.flink().parallelism());
  }

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Result run(Spec spec) throws Exception {
    try (LocalFlink flink = new LocalFlink(Path.of(spec.directory()), spec.flink())) {
      new PipelineRun(spec.warmUp(), flink).run();
      return new PipelineRun(spec, flink).run();
    }
  }

  private Result run() throws Exception {
    JobClient job =
        flink.start(
            Pipelines.build(spec.subject(), spec.capacity(), stages, spec.environment(flink)));
    long heapBefore = spec.sizes() ? ProcessMemory.liveHeapBytes() : 0;
    long allocatedBefore = allocatedBytes();
    long start = System.nanoTime();
    flink.await(job, progress.begin(0));
    double seconds = (System.nanoTime() - start) / 1e9;
    double allocatedPerRecord = (double) (allocatedBytes() - allocatedBefore) / records(0);
    long atSink = progress.recordsAtSinks();
    checkRecordsAtSink(spec.subject(), spec.keys(), atSink);
    Sizes sizes = spec.sizes() ? sizes(job, heapBefore) : null;
    progress.end();
    flink.awaitEnd(job);
    return new Result(
        spec.subject(), spec.keys(), records(0) / seconds, atSink, allocatedPerRecord, sizes);
  }

  private Sizes sizes(JobClient job, long heapBefore) throws Exception {
    long heapBytes = ProcessMemory.liveHeapBytes() - heapBefore;
    long allocatedBefore = allocatedBytes();
    flink.await(job, progress.begin(1));
    double allocatedPerRepeat = (double) (allocatedBytes() - allocatedBefore) / records(1);
    long checkpointBytes = flink.checkpointBytes(job);
    long savepointBytes = LocalFlink.bytes(flink.savepoint(job, SavepointFormatType.CANONICAL));
    long incrementBytes = 0;
    double referenced = 0;
    double mostReferenced = 0;
    for (int stage = 2; stage < stages.size(); stage++) {
      flink.await(job, progress.begin(stage));
      incrementBytes += flink.checkpointBytes(job);
      long keys = stages.get(stage).known() + records(stage);
      double ratio =
          (double) flink.lastCheckpoint(job).bytes() / Pipelines.pageBytes(spec.capacity(), keys);
      referenced += ratio / INCREMENTS;
      mostReferenced = Math.max(mostReferenced, ratio);
    }
    return new Sizes(
        heapBytes,
        checkpointBytes,
        savepointBytes,
        INCREMENTS * records(2),
        incrementBytes,
        referenced,
        mostReferenced,
        allocatedPerRepeat);
  }

  private long records(int stage) {
    return stages.get(stage).records();
  }

  /** Checks that the subject deduplicates correctly before its figures count. */
  static void checkRecordsAtSink(Subject subject, long keys, long atSink) {
    long least =
        switch (subject.kind()) {
          case EMPTY -> 0;
          case OURS -> (long) (keys * (1 - 5 * Pipelines.FALSE_POSITIVE_RATE));
          case OURS_EXACT, EXACT_BY_HASH, EXACT_BY_URL -> keys;
        };
    long most = subject.kind() == Subject.Kind.EMPTY ? 0 : keys;
    if (atSink < least || atSink > most) {
      throw new IllegalStateException(
          "%s gave %,d records for %,d keys".formatted(subject, atSink, keys));
    }
  }

  /** The bytes allocated so far by the tasks that end in a sink, which run the keyed function. */
  private long allocatedBytes() {
    long bytes = 0;
    for (long ofThread : THREADS.getThreadAllocatedBytes(progress.sinkThreads())) {
      bytes += Math.max(0, ofThread);
    }
    return bytes;
  }
}
