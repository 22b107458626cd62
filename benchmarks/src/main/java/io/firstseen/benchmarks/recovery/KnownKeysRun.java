package io.firstseen.benchmarks.recovery;

import io.firstseen.benchmarks.dedup.Pipelines;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.cli.shared.FlinkPath;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.operators.dedup.KnownKeys;
import io.firstseen.operators.dedup.WarmStart;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;

/**
 * The process that makes a savepoint of known keys, from hashes as a warm start does. That is
 * several times as fast as a job that reads URLs, and gives the same state.
 */
public final class KnownKeysRun {
  private KnownKeysRun() {}

  /**
   * What to make.
   *
   * @param keys number of known keys, which are the URLs with the first numbers
   * @param directory that the run may write to
   */
  public record Spec(long keys, String directory) {}

  /**
   * What was made.
   *
   * @param savepoint its URI
   */
  public record Result(String savepoint) {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.answer(run(ChildJvm.specification(arguments, Spec.class)));
  }

  static Result run(Spec spec) throws Exception {
    Path directory = Path.of(spec.directory());
    Path target = directory.resolve("known");
    KnownKeys known =
        new KnownKeys(Files.createDirectories(directory.resolve("hashes")), /* ttl= */ null);
    for (long i = 0; i < spec.keys(); i++) {
      known.add(Pipelines.HASH.hash(Url.of(i).utf8()), 0);
    }
    int tasks = Runtime.getRuntime().availableProcessors();
    try (EmbeddedCluster cluster =
        EmbeddedCluster.start(
            directory.resolve("cluster"),
            EmbeddedCluster.Settings.defaults().slotsPerTaskManager(tasks))) {
      Configuration onRocksDb = new Configuration();
      onRocksDb.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
      new WarmStart(
              cluster.environment(onRocksDb).setParallelism(tasks),
              RecoveryRun.dedup(null, spec.keys()).parameters(),
              RecoveryRun.UID_PREFIX,
              known)
          .write(new org.apache.flink.core.fs.Path(target.toUri()));
    }
    return new Result(FlinkPath.of(target));
  }
}
