package io.firstseen.jobs;

import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.StreamOptions;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.compaction.Snapshots;
import java.time.Duration;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Flink settings of the jobs. */
final class JobEnvironment {
  private static final Logger LOG = LoggerFactory.getLogger(JobEnvironment.class);
  private static final Duration FIRST_RESTART_DELAY = Duration.ofSeconds(1);
  private static final Duration MAX_RESTART_DELAY = Duration.ofSeconds(30);

  /**
   * With Flink's default of 4 KiB, each page of the dedup on the heap costs a system call. The size
   * is 1 MiB less the header of an array, because G1 allocates whole regions for an array of 1 MiB
   * or more.
   */
  private static final int HEAP_CHECKPOINT_BUFFER_BYTES = (1 << 20) - 64;

  private static final int CHECKPOINT_BUFFER_BYTES = 1 << 16;

  private JobEnvironment() {}

  static void configure(StreamExecutionEnvironment env, StreamOptions options) {
    Configuration settings = new Configuration();
    // No Kryo: a type without one of our serializers is an error.
    settings.set(PipelineOptions.GENERIC_TYPES, false);
    // A missing uid is an error now, instead of a savepoint that cannot be restored later.
    settings.set(PipelineOptions.AUTO_GENERATE_UIDS, false);
    settings.set(PipelineOptions.OBJECT_REUSE, true);
    settings.set(StateBackendOptions.STATE_BACKEND, options.stateBackend().flinkName());
    boolean onHeap = options.stateBackend() == StreamOptions.StateBackend.HEAP;
    setUnlessConfigured(
        env,
        settings,
        CheckpointingOptions.FS_WRITE_BUFFER_SIZE,
        onHeap ? HEAP_CHECKPOINT_BUFFER_BYTES : CHECKPOINT_BUFFER_BYTES);
    setUnlessConfigured(env, settings, CheckpointingOptions.INCREMENTAL_CHECKPOINTS, !onHeap);
    env.configure(settings);
    env.setParallelism(options.parallelism());
  }

  private static <T> void setUnlessConfigured(
      StreamExecutionEnvironment env, Configuration settings, ConfigOption<T> option, T value) {
    if (env.getConfiguration().getOptional(option).isEmpty()) {
      settings.set(option, value);
    }
  }

  /** Configures the settings of a job on Kafka: exactly-once checkpoints and unlimited restarts. */
  static void configureCheckpoints(StreamExecutionEnvironment env, KafkaOptions options) {
    Configuration settings = new Configuration();
    settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, options.checkpointInterval());
    settings.set(
        CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
    settings.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    options
        .checkpointDirectory()
        .ifPresent(
            directory -> settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, directory));
    settings.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
    settings.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF,
        FIRST_RESTART_DELAY);
    settings.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF, MAX_RESTART_DELAY);
    env.configure(settings);
    if (env.getConfiguration().getOptional(CheckpointingOptions.CHECKPOINTS_DIRECTORY).isEmpty()) {
      LOG.warn(
          "no checkpoint directory is configured in this job: unless the cluster configures one, "
              + "checkpoints are stored on the JobManager's heap and fail above 5 MiB per task "
              + "(--checkpoint-dir)");
    }
  }

  /** The savepoint or checkpoint that the job starts from; empty if it starts without state. */
  static Optional<String> restoredFrom(StreamExecutionEnvironment env) {
    return Optional.ofNullable(env.getConfiguration().get(StateRecoveryOptions.SAVEPOINT_PATH));
  }

  static void requireParallelismOfDedup(JobOptions options) {
    int parallelism = options.stream().parallelism();
    int shards = options.dedup().shards();
    if (parallelism > shards) {
      throw new UserErrorException(
          "--parallelism must be at most --dedup-shards, got %d and %d"
              .formatted(parallelism, shards));
    }
  }

  static void requireParallelismOfSnapshots(JobOptions options) {
    int parallelism = options.stream().parallelism();
    if (parallelism > Snapshots.MAX_PARALLELISM) {
      throw new UserErrorException(
          "--parallelism must be at most %d for a job that publishes snapshots, got %d"
              .formatted(Snapshots.MAX_PARALLELISM, parallelism));
    }
  }
}
