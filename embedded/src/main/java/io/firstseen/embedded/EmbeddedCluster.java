package io.firstseen.embedded;

import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.ClientUtils;
import org.apache.flink.client.deployment.executors.PipelineExecutorUtils;
import org.apache.flink.configuration.BlobServerOptions;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ClusterOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.PipelineExecutor;
import org.apache.flink.core.execution.PipelineExecutorFactory;
import org.apache.flink.core.execution.PipelineExecutorServiceLoader;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient.JobFinalizationBehavior;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.apache.flink.util.FileUtils;

/**
 * A Flink session cluster in this JVM, with its web page, bound to localhost. Jobs are built on
 * {@link #environment} and started with {@code executeAsync}, as on any cluster.
 *
 * <p>The cluster writes only below the given directory: {@code checkpoints} and {@code savepoints}
 * are kept after {@link #close}, {@code tmp} is deleted.
 */
public final class EmbeddedCluster implements Closeable {

  private static final String EXECUTION_TARGET = "firstseen-embedded";

  /** How long to wait for a task that ignores its cancellation. */
  private static final Duration CANCEL_TIMEOUT = Duration.ofSeconds(10);

  private final Configuration configuration;
  private final MiniCluster cluster;
  private final Path scratch;
  // Stopped TaskManagers keep their indices, so this is also the index of the next one to stop.
  private int replacedTaskManagers;

  private EmbeddedCluster(Path directory, Settings settings) throws Exception {
    this.scratch = directory.resolve("tmp");
    this.configuration = settings.toConfiguration(directory, scratch);
    this.cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(settings.taskManagers)
                .setNumSlotsPerTaskManager(settings.slotsPerTaskManager)
                .build());
    try {
      cluster.start();
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  /**
   * Starts a cluster that writes below {@code directory}, which is created if it does not exist.
   *
   * @throws java.net.BindException if the web port is in use
   * @throws IOException if the directory cannot be created, or if the cluster fails to start
   */
  public static EmbeddedCluster start(Path directory, Settings settings) throws IOException {
    LocalPort.requireFree(settings.webPort);
    Files.createDirectories(directory.resolve("tmp"));
    try {
      return new EmbeddedCluster(directory.toAbsolutePath(), settings);
    } catch (Exception e) {
      throw new IOException("the embedded Flink cluster did not start: " + e.getMessage(), e);
    }
  }

  /** Returns the address of the web page and of the REST API. */
  public URI webUrl() {
    return cluster.getRestAddress().join();
  }

  /**
   * Returns an environment whose {@code execute} and {@code executeAsync} run the job on this
   * cluster.
   */
  public StreamExecutionEnvironment environment() {
    return environment(new Configuration());
  }

  /**
   * Like {@link #environment()}, with settings for the job, such as the state backend, the
   * checkpoint interval, the restart strategy or the savepoint to start from.
   */
  public StreamExecutionEnvironment environment(Configuration jobSettings) {
    Configuration merged = new Configuration(configuration);
    merged.addAll(jobSettings);
    merged.set(DeploymentOptions.TARGET, EXECUTION_TARGET);
    merged.set(DeploymentOptions.ATTACHED, true);
    return new StreamExecutionEnvironment(
        new Loader(), merged, Thread.currentThread().getContextClassLoader());
  }

  /**
   * Runs a graph that was built on another environment, with a new job id. Returns once the job is
   * initialised.
   *
   * @throws CompletionException if the job cannot be started
   */
  public JobClient submit(StreamGraph graph) {
    // An environment sets the id. Flink 2.3 requires it.
    graph.setJobId(JobID.generate());
    return submit(graph, Thread.currentThread().getContextClassLoader()).join();
  }

  /**
   * Waits until every task of the job runs or has finished. A job in state RUNNING may still be
   * deploying its tasks, and cannot take a checkpoint then.
   *
   * @throws IllegalStateException if the job fails or is cancelled
   */
  public void awaitRunning(JobClient job) throws InterruptedException {
    while (true) {
      AccessExecutionGraph graph = executionGraph(job);
      if (graph.getState().isGloballyTerminalState() && graph.getState() != JobStatus.FINISHED) {
        throw new IllegalStateException("job " + job.getJobID() + " is " + graph.getState());
      }
      boolean running = true;
      for (AccessExecutionVertex task : graph.getAllExecutionVertices()) {
        ExecutionState state = task.getExecutionState();
        running &= state == ExecutionState.RUNNING || state == ExecutionState.FINISHED;
      }
      if (running) {
        return;
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** Returns the states of the job, of its tasks and of its checkpoints. */
  public AccessExecutionGraph executionGraph(JobClient job) {
    return cluster.getExecutionGraph(job.getJobID()).join();
  }

  /**
   * Takes a checkpoint as soon as every task runs and returns its path. The job needs checkpointing
   * enabled.
   *
   * @throws CompletionException if the checkpoint fails
   */
  public String triggerCheckpoint(JobClient job) throws InterruptedException {
    awaitRunning(job);
    return cluster.triggerCheckpoint(job.getJobID()).join();
  }

  /**
   * Stops the job, as soon as every task runs, with a savepoint below {@code savepoints}, waits
   * until it has finished, and returns the savepoint's path.
   *
   * @param drain whether event time first advances to its end, which closes every window; false if
   *     a job will continue from the savepoint
   * @throws CompletionException if the savepoint fails; the job then keeps running
   */
  public String stopWithSavepoint(JobClient job, SavepointFormatType format, boolean drain)
      throws InterruptedException {
    awaitRunning(job);
    String savepoint = job.stopWithSavepoint(drain, null, format).join();
    job.getJobExecutionResult().join();
    return savepoint;
  }

  /**
   * Stops the TaskManager that was started first of those that run, and starts another, so that
   * every job on it fails and is restarted by its restart strategy.
   */
  public void replaceTaskManager() throws Exception {
    cluster.terminateTaskManager(replacedTaskManagers++).get();
    cluster.startTaskManager();
  }

  /**
   * Cancels running jobs, stops the cluster, waits until it has stopped, and removes its temporary
   * files.
   */
  @Override
  public void close() throws IOException {
    try {
      if (cluster.isRunning()) {
        cancelJobs();
      }
      cluster.closeAsync().join();
    } finally {
      FileUtils.deleteDirectory(scratch.toFile());
    }
  }

  /**
   * Cancels every job and waits until they have ended, at most a few seconds. Cancelled tasks close
   * their files and transactions; tasks of a stopped cluster do not.
   */
  public void cancelJobs() {
    CompletableFuture<?>[] cancelled =
        cluster.listJobs().join().stream()
            .filter(job -> !job.getJobState().isGloballyTerminalState())
            .map(
                job ->
                    cluster
                        .cancelJob(job.getJobId())
                        .thenCompose(ack -> cluster.requestJobResult(job.getJobId())))
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(cancelled)
        .completeOnTimeout(null, CANCEL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(e -> null)
        .join();
  }

  private CompletableFuture<JobClient> submit(StreamGraph graph, ClassLoader classLoader) {
    try {
      graph.serializeUserDefinedInstances();
    } catch (Exception e) {
      return CompletableFuture.failedFuture(e);
    }
    return cluster
        .submitJob(graph)
        .thenApplyAsync(
            submitted -> {
              JobID job = submitted.getJobID();
              awaitInitialisation(job, classLoader);
              return new MiniClusterJobClient(
                  job, cluster, classLoader, JobFinalizationBehavior.NOTHING);
            });
  }

  private void awaitInitialisation(JobID job, ClassLoader classLoader) {
    try {
      ClientUtils.waitUntilJobInitializationFinished(
          () -> cluster.getJobStatus(job).get(),
          () -> cluster.requestJobResult(job).get(),
          classLoader);
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }

  /** Makes {@code executeAsync} submit to this cluster. */
  private final class Loader implements PipelineExecutorServiceLoader, PipelineExecutorFactory {

    @Override
    public PipelineExecutorFactory getExecutorFactory(Configuration ignored) {
      return this;
    }

    @Override
    public Stream<String> getExecutorNames() {
      return Stream.of(EXECUTION_TARGET);
    }

    @Override
    public String getName() {
      return EXECUTION_TARGET;
    }

    @Override
    public boolean isCompatibleWith(Configuration jobConfiguration) {
      return EXECUTION_TARGET.equals(jobConfiguration.get(DeploymentOptions.TARGET));
    }

    @Override
    public PipelineExecutor getExecutor(Configuration ignored) {
      return (pipeline, jobConfiguration, classLoader) ->
          submit(PipelineExecutorUtils.getStreamGraph(pipeline, jobConfiguration), classLoader);
    }
  }

  /** The size of the cluster and other options of Flink. Immutable. */
  public static final class Settings {

    private final int taskManagers;
    private final int slotsPerTaskManager;
    private final int webPort;
    private final Configuration flink;

    private Settings(int taskManagers, int slotsPerTaskManager, int webPort, Configuration flink) {
      this.taskManagers = atLeastOne("taskManagers", taskManagers);
      this.slotsPerTaskManager = atLeastOne("slotsPerTaskManager", slotsPerTaskManager);
      this.webPort = LocalPort.checked(webPort);
      this.flink = flink;
    }

    /** One TaskManager with one slot; the web page on a free port. */
    public static Settings defaults() {
      return new Settings(1, 1, 0, new Configuration());
    }

    /** Sets the number of TaskManagers, at least 1. */
    public Settings taskManagers(int count) {
      return new Settings(count, slotsPerTaskManager, webPort, flink);
    }

    /** Sets the number of slots per TaskManager, at least 1. */
    public Settings slotsPerTaskManager(int count) {
      return new Settings(taskManagers, count, webPort, flink);
    }

    /** Sets the port of the web page; 0 means any free port. */
    public Settings webPort(int port) {
      return new Settings(taskManagers, slotsPerTaskManager, port, flink);
    }

    /** Sets one option of Flink, for the cluster and as a default for its jobs. */
    public <T> Settings with(ConfigOption<T> option, T value) {
      Configuration changed = new Configuration(flink);
      changed.set(option, value);
      return new Settings(taskManagers, slotsPerTaskManager, webPort, changed);
    }

    private static int atLeastOne(String name, int count) {
      if (count < 1) {
        throw new IllegalArgumentException(name + " must be at least 1, got " + count);
      }
      return count;
    }

    private Configuration toConfiguration(Path directory, Path scratch) {
      Configuration configuration = new Configuration();
      configuration.set(RestOptions.ADDRESS, "localhost");
      configuration.set(RestOptions.BIND_ADDRESS, "localhost");
      configuration.set(RestOptions.BIND_PORT, Integer.toString(webPort));
      configuration.set(WebOptions.SUBMIT_ENABLE, false);
      configuration.set(SecurityOptions.DELEGATION_TOKENS_ENABLED, false);
      configuration.set(WebOptions.TMP_DIR, scratch.toString());
      configuration.set(CoreOptions.TMP_DIRS, scratch.toString());
      configuration.set(ClusterOptions.PROCESS_WORKING_DIR_BASE, scratch.toString());
      configuration.set(BlobServerOptions.STORAGE_DIRECTORY, scratch.toString());
      configuration.set(
          CheckpointingOptions.CHECKPOINTS_DIRECTORY,
          FlinkPath.of(directory.resolve("checkpoints")));
      configuration.set(
          CheckpointingOptions.SAVEPOINT_DIRECTORY, FlinkPath.of(directory.resolve("savepoints")));
      configuration.addAll(flink);
      return configuration;
    }
  }
}
