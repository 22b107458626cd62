package io.firstseen.processes;

import io.firstseen.embedded.FlinkPath;
import io.firstseen.processes.LocalProcess.Command;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.apache.flink.configuration.BlobServerOptions;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ClusterOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ConfigurationUtils;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessSpec;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint;
import org.apache.flink.runtime.jobmanager.JobManagerProcessSpec;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;
import org.apache.flink.runtime.taskexecutor.TaskManagerRunner;
import org.apache.flink.runtime.util.config.memory.ProcessMemoryUtils;
import org.apache.flink.util.FileUtils;

/**
 * A Flink session cluster of one JobManager and several TaskManagers, each in a separate process
 * and bound to localhost. Jobs are submitted as jars with {@link #rest}. All metrics are exposed in
 * the Prometheus format.
 *
 * <p>All files are in its directory: {@code checkpoints}, {@code savepoints} and the uploaded
 * {@code jars} are kept, {@code tmp} is deleted.
 *
 * @param jobManager after a restart it does not know any jobs
 * @param metricsPorts the ports of localhost on which all processes expose their metrics
 */
public record FlinkProcesses(
    LocalProcess jobManager,
    List<LocalProcess> taskManagers,
    FlinkRest rest,
    List<Integer> metricsPorts)
    implements Closeable {

  /** The packages that are needed here, of those that a Flink distribution opens. */
  private static final List<String> OPENED =
      Stream.of("lang", "net", "io", "nio", "text", "time", "util", "util.concurrent")
          .map(name -> "--add-opens=java.base/java.%s=ALL-UNNAMED".formatted(name))
          .toList();

  private static final String METRICS_PORT = "metrics.reporter.prometheus.port=";

  /**
   * Starts the cluster and waits until every TaskManager has registered.
   *
   * @param directory the directory of its files, created if absent
   * @param webPort the port of the web page and the REST API; 0 selects a free port, which is kept
   *     on restarts
   * @param taskManagers the number of TaskManagers, at least 1
   * @param slots the number of slots per TaskManager
   * @param taskManagerBytes the total memory of each TaskManager
   */
  public static FlinkProcesses start(
      Path directory,
      int webPort,
      int taskManagers,
      int slots,
      long taskManagerBytes,
      ProcessLogs logs)
      throws IOException {
    int chosen = LocalPorts.choose(webPort);
    int jobManagerMetrics = LocalPorts.choose(0);
    Configuration settings = settings(directory.toAbsolutePath(), chosen);
    settings.set(TaskManagerOptions.NUM_TASK_SLOTS, slots);
    settings.set(TaskManagerOptions.TOTAL_PROCESS_MEMORY, new MemorySize(taskManagerBytes));
    Path conf = write(directory.toAbsolutePath(), settings);
    JobManagerProcessSpec ofJobManager = JobManagerProcessUtils.processSpecFromConfig(settings);
    Command jobManager =
        command(
            logs,
            StandaloneSessionClusterEntrypoint.class,
            conf,
            JobManagerProcessUtils.generateJvmParametersStr(ofJobManager, settings),
            JobManagerProcessUtils.generateDynamicConfigsStr(ofJobManager));
    TaskExecutorProcessSpec ofTaskManager =
        TaskExecutorProcessUtils.processSpecFromConfig(settings);
    Command taskManager =
        command(
            logs,
            TaskManagerRunner.class,
            conf,
            ProcessMemoryUtils.generateJvmParametersStr(ofTaskManager),
            TaskExecutorProcessUtils.generateDynamicConfigsStr(ofTaskManager));
    FlinkRest rest = new FlinkRest(URI.create("http://localhost:" + chosen));
    FlinkProcesses cluster =
        new FlinkProcesses(
            LocalProcess.start(
                "the JobManager",
                logs.file("jobmanager"),
                start -> jobManager.with("-D", METRICS_PORT + jobManagerMetrics),
                start -> rest.hasTaskManagers(0)),
            new ArrayList<>(),
            rest,
            new ArrayList<>(List.of(jobManagerMetrics)));
    try {
      for (int i = 1; i <= taskManagers; i++) {
        String name = "taskmanager-" + i;
        int metrics = LocalPorts.choose(0);
        // Use a new name for each start, because the JobManager remembers the old name for a while.
        IntFunction<String> id = start -> name + "." + start;
        cluster.taskManagers.add(
            LocalProcess.start(
                name,
                logs.file(name),
                start ->
                    taskManager.with(
                        "-D",
                        METRICS_PORT + metrics,
                        "-D",
                        TaskManagerOptions.TASK_MANAGER_RESOURCE_ID.key() + "=" + id.apply(start)),
                start -> rest.hasTaskManager(id.apply(start))));
        cluster.metricsPorts.add(metrics);
      }
      return cluster;
    } catch (IOException | RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /** Stops all processes. Jobs are aborted and can resume from their last checkpoints. */
  @Override
  public void close() {
    taskManagers.forEach(LocalProcess::close);
    jobManager.close();
  }

  private static Configuration settings(Path directory, int webPort) throws IOException {
    String tmp = directory.resolve("tmp").toString();
    Configuration all = new Configuration();
    all.set(RestOptions.ADDRESS, "localhost");
    all.set(RestOptions.BIND_ADDRESS, "localhost");
    all.set(RestOptions.PORT, webPort);
    all.set(RestOptions.BIND_PORT, Integer.toString(webPort));
    // By default, pages of any site may read responses, and could therefore submit a job.
    all.set(WebOptions.ACCESS_CONTROL_ALLOW_ORIGIN, "http://localhost:" + webPort);
    all.set(JobManagerOptions.ADDRESS, "localhost");
    all.set(JobManagerOptions.BIND_HOST, "localhost");
    all.set(JobManagerOptions.PORT, LocalPorts.choose(0));
    all.set(JobManagerOptions.TOTAL_PROCESS_MEMORY, MemorySize.ofMebiBytes(1024));
    all.set(TaskManagerOptions.HOST, "localhost");
    all.set(TaskManagerOptions.BIND_HOST, "localhost");
    all.set(WebOptions.TMP_DIR, tmp);
    all.set(WebOptions.UPLOAD_DIR, directory.resolve("jars").toString());
    all.set(CoreOptions.TMP_DIRS, tmp);
    all.set(ClusterOptions.PROCESS_WORKING_DIR_BASE, tmp);
    all.set(BlobServerOptions.STORAGE_DIRECTORY, tmp);
    all.set(SecurityOptions.DELEGATION_TOKENS_ENABLED, false);
    all.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY, FlinkPath.of(directory.resolve("checkpoints")));
    all.set(
        CheckpointingOptions.SAVEPOINT_DIRECTORY, FlinkPath.of(directory.resolve("savepoints")));
    all.setString(
        "metrics.reporter.prometheus.factory.class",
        "org.apache.flink.metrics.prometheus.PrometheusReporterFactory");
    return all;
  }

  private static Path write(Path directory, Configuration settings) throws IOException {
    Path conf = Files.createDirectories(directory.resolve("conf"));
    // Files of a cluster that was killed.
    FileUtils.deleteDirectory(directory.resolve("tmp").toFile());
    Files.createDirectories(directory.resolve("tmp"));
    Files.write(
        conf.resolve("config.yaml"),
        ConfigurationUtils.convertConfigToWritableLines(settings, true));
    return conf;
  }

  private static Command command(
      ProcessLogs logs, Class<?> main, Path conf, String jvm, String dynamic) throws IOException {
    List<String> options = new ArrayList<>(OPENED);
    options.addAll(List.of(jvm.trim().split("\\s+")));
    options.addAll(logs.options());
    List<String> arguments = new ArrayList<>(List.of("--configDir", conf.toString()));
    arguments.addAll(List.of(dynamic.trim().split("\\s+")));
    Map<String, String> environment = Map.of("FLINK_CONF_DIR", conf.toString());
    return Command.java(main.getName(), ClassPath.ofThisJvm(), options, arguments, environment);
  }
}
