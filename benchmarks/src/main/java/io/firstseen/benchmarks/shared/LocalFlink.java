package io.firstseen.benchmarks.shared;

import io.firstseen.cli.shared.FlinkPath;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.BlobServerOptions;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ClusterOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.jspecify.annotations.Nullable;

/** A mini cluster that runs one job at a time, and measures the files of its checkpoints. */
public final class LocalFlink implements AutoCloseable {
  /**
   * The checkpoint interval: checkpointing is enabled so that checkpoints can be triggered, but
   * none is periodic.
   */
  private static final Duration NEVER = Duration.ofDays(3650);

  /**
   * The size that docs/operations/state.md recommends; Flink's default of 4 KiB costs a system call
   * per page.
   */
  private static final int HEAP_WRITE_BUFFER_BYTES = (1 << 20) - 64;

  private static final int WRITE_BUFFER_BYTES = 1 << 16;

  private final Path directory;
  private final MiniCluster cluster;

  public LocalFlink(Path directory, FlinkSettings settings) throws Exception {
    this.directory = directory;
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.ADDRESS, "localhost");
    configuration.set(RestOptions.BIND_PORT, "0");
    String scratch = Files.createDirectories(directory.resolve("tmp")).toString();
    configuration.set(CoreOptions.TMP_DIRS, scratch);
    configuration.set(ClusterOptions.PROCESS_WORKING_DIR_BASE, scratch);
    configuration.set(BlobServerOptions.STORAGE_DIRECTORY, scratch);
    configuration.set(
        TaskManagerOptions.MANAGED_MEMORY_SIZE,
        MemorySize.ofMebiBytes(settings.managedMemoryMebibytes()));
    // Earlier ones are counted, or started from, while the next ones become complete. Flink takes
    // this number from the cluster, not from the job.
    configuration.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, 3);
    cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(settings.parallelism())
                .build());
    cluster.start();
  }

  /**
   * An environment to build a job on.
   *
   * @param outliveTheJob whether checkpoints stay when the job is cancelled
   * @param savepoint the savepoint or checkpoint to start from; null for none
   */
  public StreamExecutionEnvironment environment(
      Backend backend, FlinkSettings flink, boolean outliveTheJob, @Nullable String savepoint) {
    Configuration configuration = new Configuration();
    configuration.set(StateBackendOptions.STATE_BACKEND, backend.id());
    configuration.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, FlinkPath.of(checkpoints()));
    configuration.set(
        CheckpointingOptions.FS_WRITE_BUFFER_SIZE,
        backend == Backend.ROCKSDB ? WRITE_BUFFER_BYTES : HEAP_WRITE_BUFFER_BYTES);
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, NEVER);
    if (outliveTheJob) {
      configuration.set(
          CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
          ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    }
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(PipelineOptions.OBJECT_REUSE, flink.objectReuse());
    configuration.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ZERO);
    configuration.set(CoreOptions.DEFAULT_PARALLELISM, flink.parallelism());
    if (savepoint != null) {
      configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
      configuration.set(StateRecoveryOptions.SAVEPOINT_IGNORE_UNCLAIMED_STATE, true);
    }
    return new StreamExecutionEnvironment(configuration);
  }

  /** Starts a job and returns when all its tasks run. */
  public JobID start(StreamGraph graph) throws Exception {
    JobID job = cluster.submitJob(graph.getJobGraph()).get().getJobID();
    while (!isRunning(job)) {
      TimeUnit.MILLISECONDS.sleep(20);
    }
    return job;
  }

  private boolean isRunning(JobID job) throws Exception {
    JobStatus status = cluster.getJobStatus(job).get();
    if (status == JobStatus.INITIALIZING) {
      return false;
    }
    if (status.isGloballyTerminalState()) {
      failIfFailed(cluster.requestJobResult(job).get());
      throw new IllegalStateException("the job has ended before it began: " + status);
    }
    for (AccessExecutionVertex task :
        cluster.getExecutionGraph(job).get().getAllExecutionVertices()) {
      if (task.getExecutionState() != ExecutionState.RUNNING) {
        return false;
      }
    }
    return true;
  }

  /** Cancels a job and waits until it has ended. */
  public void cancel(JobID job) throws Exception {
    cluster.cancelJob(job).get();
    cluster.requestJobResult(job).get();
  }

  /** Fails if a job has failed or ended. */
  public void failIfEnded(JobID job) throws Exception {
    if (cluster.getJobStatus(job).get().isGloballyTerminalState()) {
      awaitEnd(job);
      throw new IllegalStateException("the job has ended");
    }
  }

  /** Waits until all tasks of a job run again after its first restart. */
  public void awaitRestart(JobID job) throws Exception {
    while (!isRunning(job) || !isRestarted(job)) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private boolean isRestarted(JobID job) throws Exception {
    for (AccessExecutionVertex task :
        cluster.getExecutionGraph(job).get().getAllExecutionVertices()) {
      if (task.getCurrentExecutionAttempt().getAttemptNumber() == 0) {
        return false;
      }
    }
    return true;
  }

  /** Waits for an event in a running job; fails if the job fails. */
  public void await(JobID job, CompletableFuture<?> event) throws Exception {
    CompletableFuture<JobResult> end = cluster.requestJobResult(job);
    CompletableFuture.anyOf(event, end).get();
    if (end.isDone()) {
      failIfFailed(end.get());
    }
  }

  /** Waits until a job has ended. */
  public void awaitEnd(JobID job) throws Exception {
    failIfFailed(cluster.requestJobResult(job).get());
  }

  private static void failIfFailed(JobResult result) throws Exception {
    if (!result.isSuccess()) {
      throw new IllegalStateException(
          "the job failed",
          result
              .getSerializedThrowable()
              .map(e -> e.deserializeError(LocalFlink.class.getClassLoader()))
              .orElse(null));
    }
  }

  /** Takes a checkpoint and returns the total bytes of the files that it wrote. */
  public long checkpointBytes(JobID job) throws Exception {
    Path ofJob = checkpoints().resolve(job.toHexString());
    Map<Path, Long> before = files(ofJob);
    checkpoint(job);
    Map<Path, Long> after = files(ofJob);
    after.keySet().removeAll(before.keySet());
    return after.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Takes a savepoint and returns its path. */
  public Path savepoint(JobID job, SavepointFormatType format) throws Exception {
    Path savepoints = Files.createDirectories(directory.resolve("savepoints"));
    String place = cluster.triggerSavepoint(job, FlinkPath.of(savepoints), false, format).get();
    return Path.of(URI.create(place));
  }

  /** Takes a checkpoint and returns its path when it is complete. */
  public String checkpoint(JobID job) throws Exception {
    return cluster.triggerCheckpoint(job).get();
  }

  /**
   * A checkpoint that is complete.
   *
   * @param triggeredMillis when it was triggered, in milliseconds since 1970
   * @param millis from its trigger to its end
   * @param bytes of all its state, those that it shares with earlier ones included
   * @param path what a job can start from
   */
  public record Checkpoint(long id, long triggeredMillis, long millis, long bytes, String path) {}

  /** The last complete checkpoint of a job; null if there is none. */
  public @Nullable Checkpoint lastCheckpoint(JobID job) throws Exception {
    CheckpointStatsSnapshot statistics =
        cluster.getExecutionGraph(job).get().getCheckpointStatsSnapshot();
    CompletedCheckpointStats last =
        statistics == null ? null : statistics.getHistory().getLatestCompletedCheckpoint();
    return last == null
        ? null
        : new Checkpoint(
            last.getCheckpointId(),
            last.getTriggerTimestamp(),
            last.getEndToEndDuration(),
            last.getStateSize(),
            last.getExternalPath());
  }

  public static long bytes(Path directory) throws IOException {
    return files(directory).values().stream().mapToLong(Long::longValue).sum();
  }

  private static Map<Path, Long> files(Path directory) throws IOException {
    Map<Path, Long> sizes = new HashMap<>();
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            sizes.put(file, attributes.size());
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) {
            // Flink deletes files in the background.
            return FileVisitResult.CONTINUE;
          }
        });
    return sizes;
  }

  private Path checkpoints() {
    return directory.resolve("checkpoints");
  }

  @Override
  public void close() {
    cluster.closeAsync().join();
  }
}
