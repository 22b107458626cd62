package io.firstseen.benchmarks.kafka;

import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The process of a job that starts from known keys, and runs until its standard input ends. It
 * prints a line when the job has been submitted.
 */
final class LatencyJob {
  static final int MANAGED_MEBIBYTES = 256;

  /** Room in the page cache for keys that are added, and for pages that are half empty. */
  private static final int MORE_CACHE_MEBIBYTES = 256;

  private static final long CACHED_BYTES_PER_KEY = 4;

  private LatencyJob() {}

  /**
   * What to run.
   *
   * @param keys known keys
   * @param intervalSeconds between two checkpoints
   * @param savepoint with the known keys
   */
  record Spec(
      Subject subject,
      StateBackend backend,
      long keys,
      int intervalSeconds,
      String bootstrapServers,
      String savepoint,
      String directory) {

    KafkaOptions kafka() {
      return KafkaOptions.parse(
          "--bootstrap-servers=" + bootstrapServers,
          "--events-topic=" + Events.TOPIC,
          "--event-format=key",
          "--checkpoint-interval=" + intervalSeconds + "s");
    }
  }

  public static void main(String[] arguments) throws Exception {
    Spec spec = ChildJvm.specification(arguments, Spec.class);
    EmbeddedCluster cluster =
        EmbeddedCluster.start(
            Path.of(spec.directory()),
            EmbeddedCluster.Settings.defaults()
                .with(
                    TaskManagerOptions.MANAGED_MEMORY_SIZE,
                    MemorySize.ofMebiBytes(MANAGED_MEBIBYTES))
                .with(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true)
                .with(StateRecoveryOptions.SAVEPOINT_PATH, spec.savepoint())
                .with(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE, true));
    StreamExecutionEnvironment env = cluster.environment();
    long cacheMebibytes = ((CACHED_BYTES_PER_KEY * spec.keys()) >> 20) + MORE_CACHE_MEBIBYTES;
    Pipelines.build(
        spec.subject(),
        env,
        spec.kafka(),
        JobOptions.parse(
            "--capacity=" + spec.keys(),
            "--fpr=" + MeasuredRun.RATE,
            "--state-backend=" + spec.backend().name().toLowerCase(Locale.ROOT),
            "--page-cache=" + cacheMebibytes + "m"));
    env.configure(new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "disable"));
    var unused =
        env.executeAsync("latency")
            .getJobExecutionResult()
            .whenComplete(
                (result, e) -> {
                  System.err.println("the job has ended: " + e);
                  System.exit(1);
                });
    System.out.println("submitted");
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}
