package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ClusterOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CompletedCheckpointStats;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.util.TestStreamEnvironment;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A mini cluster of one TaskManager with four slots, with state in real files; one for the tests of
 * all classes. A job that a test leaves behind is cancelled.
 */
final class TestCluster implements BeforeAllCallback, AfterEachCallback {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private Path directory;
  private MiniCluster cluster;

  @Override
  public void beforeAll(ExtensionContext context) {
    Shared shared =
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.create(TestCluster.class))
            .getOrComputeIfAbsent(Shared.class, key -> Shared.start(), Shared.class);
    directory = shared.directory();
    cluster = shared.cluster();
  }

  private record Shared(Path directory, MiniCluster cluster) implements AutoCloseable {
    static Shared start() {
      try {
        Path directory = Files.createTempDirectory("firstseen-restores");
        Configuration configuration = new Configuration();
        configuration.set(RestOptions.ADDRESS, "localhost");
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(SecurityOptions.DELEGATION_TOKENS_ENABLED, false);
        configuration.set(CoreOptions.TMP_DIRS, directory.resolve("tmp").toString());
        configuration.set(
            ClusterOptions.PROCESS_WORKING_DIR_BASE, directory.resolve("work").toString());
        configuration.set(
            CheckpointingOptions.CHECKPOINTS_DIRECTORY,
            directory.resolve("checkpoints").toUri().toString());
        // Small buffers, so that a blocked sink soon causes backpressure in the whole job.
        configuration.set(TaskManagerOptions.MEMORY_SEGMENT_SIZE, MemorySize.parse("4kb"));
        MiniCluster cluster =
            new MiniCluster(
                new MiniClusterConfiguration.Builder()
                    .setConfiguration(configuration)
                    .setNumTaskManagers(1)
                    .setNumSlotsPerTaskManager(4)
                    .build());
        cluster.start();
        return new Shared(directory, cluster);
      } catch (Exception e) {
        throw new IllegalStateException("the mini cluster did not start", e);
      }
    }

    @Override
    public void close() throws IOException {
      cluster.closeAsync().join();
      FileUtils.deleteDirectory(directory.toFile());
    }
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    for (JobStatusMessage job : get(cluster.listJobs())) {
      if (!job.getJobState().isGloballyTerminalState()) {
        get(cluster.cancelJob(job.getJobId()));
        get(cluster.requestJobResult(job.getJobId()));
      }
    }
  }

  /** A place for what a test writes, gone with the cluster. */
  Path directory() {
    return directory;
  }

  /** Where a job's checkpoints are. */
  Path checkpoints(JobClient job) {
    return directory.resolve("checkpoints").resolve(job.getJobID().toHexString());
  }

  StreamExecutionEnvironment environment(Configuration settings) {
    return new TestStreamEnvironment(cluster, settings, 1, List.of(), List.of());
  }

  /** Starts a job; one that cannot even be set up fails here. */
  JobClient start(StreamExecutionEnvironment env) throws Exception {
    JobClient job = env.executeAsync();
    while (get(job.getJobStatus()) == JobStatus.INITIALIZING) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    requireNotFailed(job);
    return job;
  }

  /** Throws what a job failed with, if it did. */
  void requireNotFailed(JobClient job) throws Exception {
    if (get(job.getJobStatus()) == JobStatus.FAILED) {
      get(job.getJobExecutionResult());
    }
  }

  /** Waits until every task runs or has finished as wanted; only then checkpoints are taken. */
  void awaitTasks(JobClient job, int finished) throws Exception {
    long deadline = System.nanoTime() + TIMEOUT.toNanos();
    while (true) {
      AccessExecutionGraph graph = graph(job);
      int running = 0;
      int done = 0;
      int tasks = 0;
      for (AccessExecutionVertex task : graph.getAllExecutionVertices()) {
        tasks++;
        running += task.getExecutionState() == ExecutionState.RUNNING ? 1 : 0;
        done += task.getExecutionState() == ExecutionState.FINISHED ? 1 : 0;
      }
      if (tasks > 0 && done == finished && running + done == tasks) {
        return;
      }
      assertThat(graph.getState().isGloballyTerminalState())
          .as("the job is %s", graph.getState())
          .isFalse();
      assertThat(System.nanoTime()).as("patience").isLessThan(deadline);
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** Begins a checkpoint; the result is where it is. */
  CompletableFuture<String> beginCheckpoint(JobClient job) throws Exception {
    awaitTasks(job, 0);
    return cluster.triggerCheckpoint(job.getJobID());
  }

  /** Takes a checkpoint while a number of tasks have already finished, and returns its path. */
  String checkpoint(JobClient job, int finished) throws Exception {
    awaitTasks(job, finished);
    return get(cluster.triggerCheckpoint(job.getJobID()));
  }

  String checkpoint(JobClient job) throws Exception {
    return checkpoint(job, 0);
  }

  /** Flink's own figures of the last checkpoint. */
  CompletedCheckpointStats lastCheckpoint(JobClient job) throws Exception {
    return graph(job).getCheckpointStatsSnapshot().getHistory().getLatestCompletedCheckpoint();
  }

  /** Stops a job with a savepoint and returns the savepoint's path. */
  Path stop(JobClient job, SavepointFormatType format, boolean drain) throws Exception {
    awaitTasks(job, 0);
    String savepoint =
        get(job.stopWithSavepoint(drain, directory.resolve("savepoints").toString(), format));
    get(job.getJobExecutionResult());
    return Path.of(java.net.URI.create(savepoint));
  }

  /** Cancels a job and waits until it has ended; its last checkpoint is kept. */
  void cancel(JobClient job) throws Exception {
    get(job.cancel());
    awaitEnd(job, JobStatus.CANCELED);
  }

  void awaitEnd(JobClient job, JobStatus wanted) throws Exception {
    get(cluster.requestJobResult(job.getJobID()));
    assertThat(graph(job).getState()).isEqualTo(wanted);
  }

  /** The names of a job's tasks, each of which lists its operators. */
  List<String> tasks(JobClient job) throws Exception {
    List<String> names = new ArrayList<>();
    graph(job).getVerticesTopologically().forEach(task -> names.add(task.getName()));
    return names;
  }

  /** The highest number of attempts of a job's tasks, the first being 0. */
  int attempts(JobClient job) throws Exception {
    int most = 0;
    for (AccessExecutionVertex task : graph(job).getAllExecutionVertices()) {
      most = Math.max(most, task.getCurrentExecutionAttempt().getAttemptNumber());
    }
    return most;
  }

  private AccessExecutionGraph graph(JobClient job) throws Exception {
    return get(cluster.getExecutionGraph(job.getJobID()));
  }

  static <R> R get(CompletableFuture<R> future) throws Exception {
    try {
      return future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }
}
