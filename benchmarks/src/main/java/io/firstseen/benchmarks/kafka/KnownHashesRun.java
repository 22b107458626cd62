package io.firstseen.benchmarks.kafka;

import io.firstseen.benchmarks.dedup.KnownKeysRun;
import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.dedup.Subject;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.FlinkSettings;
import io.firstseen.benchmarks.shared.LocalFlink;
import io.firstseen.benchmarks.shared.Stage;
import io.firstseen.benchmarks.shared.Stages;
import io.firstseen.cli.shared.FlinkPath;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;

/** Does for exact dedup by hash what {@link KnownKeysRun} does for the dedup. */
final class KnownHashesRun {
  private KnownHashesRun() {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, KnownKeysRun.Spec.class)));
    System.exit(0);
  }

  static String run(KnownKeysRun.Spec spec) throws Exception {
    FlinkSettings settings = new FlinkSettings(1, LatencyJob.MANAGED_MEBIBYTES, true);
    try (LocalFlink flink = new LocalFlink(Path.of(spec.directory()), settings)) {
      Stages progress = Stages.prepare(1, 1);
      JobClient job =
          flink.start(
              Pipelines.build(
                  Subject.HASH_ROCKSDB,
                  spec.keys(),
                  List.of(Stage.allNew(0, spec.keys())),
                  flink.environment(Backend.ROCKSDB, settings, false, null)));
      flink.await(job, progress.begin(0));
      return FlinkPath.of(flink.savepoint(job, SavepointFormatType.CANONICAL));
    }
  }
}
