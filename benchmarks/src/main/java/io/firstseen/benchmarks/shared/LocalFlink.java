package io.firstseen.benchmarks.shared;

import com.google.common.collect.Streams;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.FlinkPath;
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
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.execution.ExecutionState;
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
  private final EmbeddedCluster cluster;

  public LocalFlink(Path directory, FlinkSettings settings) throws IOException {
    this.directory = directory;
    this.cluster =
        EmbeddedCluster.start(
            directory,
            EmbeddedCluster.Settings.defaults()
                .slotsPerTaskManager(settings.parallelism())
                .with(
                    TaskManagerOptions.MANAGED_MEMORY_SIZE,
                    MemorySize.ofMebiBytes(settings.managedMemoryMebibytes()))
                // Earlier ones are counted, or started from, while the next ones become complete.
                // Flink takes this number from the cluster, not from the job.
                .with(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, 3));
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
    return cluster.environment(configuration);
  }

  /** Starts a job and returns when all its tasks run. */
  public JobClient start(StreamGraph graph) throws InterruptedException {
    JobClient job = cluster.submit(graph);
    cluster.awaitRunning(job);
    return job;
  }

  /** Cancels a job and waits until it has ended. */
  public void cancel(JobClient job) {
    job.cancel().join();
    job.getJobExecutionResult().handle((result, e) -> result).join();
  }

  /** Fails if a job has failed or ended. */
  public void failIfEnded(JobClient job) throws Exception {
    if (job.getJobStatus().get().isGloballyTerminalState()) {
      awaitEnd(job);
      throw new IllegalStateException("the job has ended");
    }
  }

  /** Waits until all tasks of a job run again after its first restart. */
  public void awaitRestart(JobClient job) throws Exception {
    while (!isRestarted(job)) {
      failIfEnded(job);
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private boolean isRestarted(JobClient job) {
    return Streams.stream(cluster.executionGraph(job).getAllExecutionVertices())
        .allMatch(
            task ->
                task.getExecutionState() == ExecutionState.RUNNING
                    && task.getCurrentExecutionAttempt().getAttemptNumber() > 0);
  }

  /** Waits for an event in a running job; fails if the job fails. */
  public void await(JobClient job, CompletableFuture<?> event) throws Exception {
    CompletableFuture.anyOf(event, job.getJobExecutionResult()).get();
  }

  /** Waits until a job has ended; fails if the job fails. */
  public void awaitEnd(JobClient job) throws Exception {
    job.getJobExecutionResult().get();
  }

  /** Takes a checkpoint and returns the total bytes of the files that it wrote. */
  public long checkpointBytes(JobClient job) throws Exception {
    Path ofJob = directory.resolve("checkpoints").resolve(job.getJobID().toHexString());
    Map<Path, Long> before = files(ofJob);
    checkpoint(job);
    Map<Path, Long> after = files(ofJob);
    after.keySet().removeAll(before.keySet());
    return after.values().stream().mapToLong(Long::longValue).sum();
  }

  public Path savepoint(JobClient job, SavepointFormatType format) throws Exception {
    Path savepoints = Files.createDirectories(directory.resolve("savepoints"));
    String place = job.triggerSavepoint(FlinkPath.of(savepoints), format).get();
    return Path.of(URI.create(place));
  }

  /** Takes a checkpoint and returns its path when it is complete. */
  public String checkpoint(JobClient job) throws InterruptedException {
    return cluster.triggerCheckpoint(job);
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
  public @Nullable Checkpoint lastCheckpoint(JobClient job) {
    CheckpointStatsSnapshot statistics = cluster.executionGraph(job).getCheckpointStatsSnapshot();
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

  @Override
  public void close() throws IOException {
    cluster.close();
  }
}
