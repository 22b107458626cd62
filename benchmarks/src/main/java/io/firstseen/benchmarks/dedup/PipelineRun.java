package io.firstseen.benchmarks.dedup;

import com.sun.management.ThreadMXBean;
import io.firstseen.benchmarks.dedup.PipelineResult.Sizes;
import io.firstseen.benchmarks.shared.ChildJvm;
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

/** The process that runs one subject once, after a warm-up. */
final class PipelineRun {
  /** Between two checkpoints, one new key is added for this many keys. */
  private static final int INCREMENT_DIVISOR = 100;

  private static final int INCREMENTS = 50;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final PipelineSpec spec;
  private final LocalFlink flink;
  private final List<Stage> stages = new ArrayList<>();
  private final Stages progress;

  private PipelineRun(PipelineSpec spec, LocalFlink flink) {
    this.spec = spec;
    this.flink = flink;
    stages.add(spec.subject().stage(spec.keys()));
    if (spec.sizes()) {
      stages.add(Stage.noneNew(spec.keys(), spec.keys()));
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
    ChildJvm.answer(run(ChildJvm.specification(arguments, PipelineSpec.class)));
  }

  static PipelineResult run(PipelineSpec spec) throws Exception {
    try (LocalFlink flink = new LocalFlink(Path.of(spec.directory()), spec.flink())) {
      new PipelineRun(spec.warmUp(), flink).run();
      return new PipelineRun(spec, flink).run();
    }
  }

  private PipelineResult run() throws Exception {
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
    return new PipelineResult(
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
