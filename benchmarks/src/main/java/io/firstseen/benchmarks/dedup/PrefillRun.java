package io.firstseen.benchmarks.dedup;

import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.Stages;
import io.firstseen.cli.shared.FlinkPath;
import java.nio.file.Path;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;

/** The process that makes a savepoint with filters of a given size. */
final class PrefillRun {
  private PrefillRun() {}

  /**
   * @param filterBytes total size of all filters' pages
   * @param pipeline the settings of the job
   */
  record Spec(long filterBytes, PipelineSpec pipeline) {}

  /**
   * @param savepoint its path
   * @param filterBytes total size of all filters' pages
   * @param keys that are in the filters
   * @param capacity that Firstseen was told of
   */
  record Result(String savepoint, long filterBytes, long keys, long capacity) {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Result run(Spec spec) throws Exception {
    Prefill prefill = Prefill.ofBytes(spec.filterBytes());
    PipelineSpec pipeline = spec.pipeline();
    try (LocalFlink flink = new LocalFlink(Path.of(pipeline.directory()), pipeline.flink())) {
      Stages progress = Stages.prepare(1, 1);
      JobClient job = flink.start(Pipelines.buildPrefill(prefill, pipeline.environment(flink)));
      flink.await(job, progress.begin(0));
      Path savepoint = flink.savepoint(job, SavepointFormatType.CANONICAL);
      progress.end();
      flink.awaitEnd(job);
      return new Result(
          FlinkPath.of(savepoint), prefill.bytes(), prefill.keys(), prefill.capacity());
    }
  }
}
