package io.firstseen.cli.up;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.LogFormatOption;
import io.firstseen.cli.shared.Progress;
import io.firstseen.cli.shared.Verb;
import io.firstseen.embedded.FlinkPath;
import io.firstseen.jobs.kafka.BrokerPreparation;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.EventOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import io.firstseen.processes.BrokerProcess;
import io.firstseen.processes.ClassPath;
import io.firstseen.processes.FlinkProcesses;
import io.firstseen.processes.FlinkRest;
import io.firstseen.processes.LocalPorts;
import io.firstseen.processes.LocalProcess;
import io.firstseen.processes.ProcessLogs;
import io.firstseen.processes.PrometheusProcess;
import io.firstseen.processes.RetainedState;
import io.firstseen.processes.Supervisor;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the services of docker-compose.yml as processes on this machine. */
@Command(
    name = "up",
    footer = {
      "  firstseen up",
      "  firstseen up --data firstseen-data --ttl 7d --canonicaliser url",
      "  firstseen up --kafka-port 0 --web-port 0 --port 0 --prometheus-port 0 --json"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Runs the whole pipeline on this machine until Ctrl-C: a Kafka broker, a Flink "
          + "cluster with the dedup job and the snapshot job, the HTTP service, and Prometheus "
          + "if it is on the PATH.",
      "Each part is a separate process that listens only on localhost, except the metrics "
          + "ports of Flink's processes, which Flink opens on all addresses. All data is kept in "
          + "the directory, from which the next start resumes: the jobs resume from their last "
          + "checkpoints. Options of the jobs may change between two starts if their "
          + "descriptions allow it.",
      "A process or job that ends is restarted, after one second at first and at most one "
          + "minute."
    },
    exitCodeList = {
      "2:usage error, such as a port that is in use; or a job failed with a usage error",
      "3:a part did not start",
      "130:stopped by Ctrl-C"
    })
public final class UpCommand extends Verb {
  private static final Logger LOG = LoggerFactory.getLogger(UpCommand.class);
  private static final String ACCEPTED_TOPIC = "firstseen.accepted";
  private static final String SNAPSHOT_JOB = "SnapshotJob";

  /** The prefix of the snapshot job's transactional ids: the option's prefix and the topic. */
  private static final String SNAPSHOT_TRANSACTIONS = "firstseen.firstseen.snapshots.";

  // The broker stops together with the jobs, so records that the jobs still need must not expire.
  private static final Duration MAX_DOWNTIME = Duration.ofDays(36_500);
  // Milliseconds are an int.
  private static final Duration TRANSACTION_TIMEOUT = Duration.ofDays(24);

  // Events and results have the default retention; offsets and transactions survive a long pause.
  private static final Map<String, String> BROKER =
      Map.of(
          "offsets.retention.minutes", "" + Integer.MAX_VALUE,
          "transaction.max.timeout.ms", "" + TRANSACTION_TIMEOUT.toMillis());

  private static final String MIN_TASK_MANAGER = "1g";
  private static final String MIN_SERVICE = "128m";
  private static final Duration JOB_LIMIT = Duration.ofMinutes(2);

  @Option(
      names = "--data",
      paramLabel = "DIR",
      defaultValue = "firstseen-data",
      description = "Directory for all data (default: ${DEFAULT-VALUE}).")
  private Path data;

  @Option(
      names = "--kafka-port",
      paramLabel = "PORT",
      defaultValue = "9092",
      converter = OptionValues.Port.class,
      description =
          "Port of the broker; 0 selects a free port, also in the following options (default: "
              + "${DEFAULT-VALUE}).")
  private int kafkaPort;

  @Option(
      names = "--topics",
      paramLabel = "TOPIC,...",
      split = ",",
      converter = OptionValues.KafkaName.class,
      description =
          "Additional topics to create, for your own jobs or for --events-topic-pattern. The "
              + "broker does not create topics automatically.")
  private List<String> topics = List.of();

  @Option(
      names = "--web-port",
      paramLabel = "PORT",
      defaultValue = "8081",
      converter = OptionValues.Port.class,
      description = "Port of Flink's web page (default: ${DEFAULT-VALUE}).")
  private int webPort;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "8080",
      converter = OptionValues.Port.class,
      description = "Port of the HTTP service (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--prometheus-port",
      paramLabel = "PORT",
      defaultValue = "9090",
      converter = OptionValues.Port.class,
      description = "Port of Prometheus (default: ${DEFAULT-VALUE}).")
  private int prometheusPort;

  @Option(
      names = "--scrape-interval",
      paramLabel = "DURATION",
      defaultValue = "15s",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Interval at which Prometheus scrapes metrics and evaluates alerts (default: "
              + "${DEFAULT-VALUE}).")
  private Duration scrapeInterval;

  @Option(
      names = "--task-managers",
      paramLabel = "N",
      defaultValue = "1",
      converter = TaskManagers.class,
      description =
          "Number of TaskManagers (default: ${DEFAULT-VALUE}). Each provides two additional "
              + "slots for your own jobs.")
  private int taskManagers;

  @Option(
      names = "--task-manager-memory",
      paramLabel = "SIZE",
      defaultValue = "1728m",
      converter = OptionValues.ByteCount.class,
      description =
          "Total memory of each TaskManager, at least "
              + MIN_TASK_MANAGER
              + " (default: ${DEFAULT-VALUE}).")
  private long taskManagerBytes;

  @Option(
      names = "--service-memory",
      paramLabel = "SIZE",
      defaultValue = "512m",
      converter = OptionValues.ByteCount.class,
      description =
          "Heap of the HTTP service. Allow about 1.5 bytes per key for loading a new set and for "
              + "building bases on request (default: ${DEFAULT-VALUE}).")
  private long serviceBytes;

  @Option(
      names = "--checkpoint-interval",
      defaultValue = DeclaredOptions.DEFAULT,
      description =
          "Time between checkpoints. Read-committed consumers see results after the next "
              + "checkpoint (default: ${DEFAULT-VALUE}).")
  private Duration checkpointInterval;

  @Option(names = "--json", description = "Print the addresses as one JSON object.")
  private boolean json;

  @Mixin private LogFormatOption log;

  @Mixin private JobOptions options;

  @Mixin private EventOptions events;

  private Path directory;
  private ProcessLogs logs;
  private String servers;
  private boolean keepsRemovals;

  static final class TaskManagers extends OptionValues.WholeNumber {
    TaskManagers() {
      super(1, 64);
    }
  }

  @Override
  public Integer call() throws Exception {
    boolean logsJson = log.apply();
    return Cleanup.after(
        cleanup -> {
          try {
            return run(cleanup, logsJson);
          } catch (FileSystemException e) {
            throw e;
          } catch (IOException e) {
            print(e.getMessage(), logsJson);
            return ExitCode.PROGRAM;
          }
        });
  }

  private int run(Cleanup cleanup, boolean logsJson) throws Exception {
    checkOptions();
    Path jar = JobJar.find();
    Optional<Path> prometheus = PrometheusProcess.program();
    LocalPorts.chooseFor("--kafka-port", kafkaPort);
    LocalPorts.chooseFor("--web-port", webPort);
    LocalPorts.chooseFor("--port", port);
    if (prometheus.isPresent()) {
      LocalPorts.chooseFor("--prometheus-port", prometheusPort);
    }
    openData(cleanup);
    logs = new ProcessLogs(directory.resolve("logs"), logsJson);
    Supervisor parts = new Supervisor(sentence -> print(sentence, logsJson));
    ObjectNode told = Json.object().put("event", "up");
    try (Progress progress = new Progress(err())) {
      progress.show(() -> "starting Kafka…");
      BrokerProcess kafka =
          BrokerProcess.start(directory.resolve("kafka"), kafkaPort, BROKER, logs);
      cleanup.add(kafka.process());
      parts.add(kafka.process());
      servers = kafka.bootstrapServers();
      prepareTopics();
      told.put("kafka", servers).put("eventsTopic", eventsTopic());

      progress.show(() -> "starting Flink…");
      FlinkProcesses flink = startFlink();
      cleanup.add(flink);
      parts.add(flink.jobManager());
      flink.taskManagers().forEach(parts::add);
      told.put("flink", flink.rest().address() + "/");

      progress.show(() -> "starting the jobs…");
      ObjectNode jobs = told.putObject("jobs");
      for (String job : List.of("DedupJob", SNAPSHOT_JOB)) {
        ObjectNode started = startJob(flink.rest(), jar, job);
        jobs.set(job, started);
        String id = started.path("id").asText();
        flink.rest().awaitRunning(id, JOB_LIMIT);
        parts.addJob(
            job, flink.rest(), id, () -> startJob(flink.rest(), jar, job).path("id").asText());
      }

      progress.show(() -> "starting the service…");
      int servicePort = LocalPorts.choose(port);
      LocalProcess service = startService(servicePort);
      cleanup.add(service);
      parts.add(service, ExitCode.USAGE);
      told.put("service", "http://127.0.0.1:" + servicePort + "/");

      if (prometheus.isPresent()) {
        progress.show(() -> "starting Prometheus…");
        int chosen = LocalPorts.choose(prometheusPort);
        Duration delay =
            options.stream()
                .outOfOrderness()
                .plus(options.stream().idleTimeout())
                .plus(checkpointInterval.multipliedBy(2));
        LocalProcess process =
            PrometheusProcess.start(
                prometheus.get(),
                directory.resolve("prometheus"),
                chosen,
                flink.metricsPorts(),
                servicePort,
                scrapeInterval,
                new PrometheusProcess.Jobs(
                    options.dedup().falsePositiveRate(), options.snapshots().window(), delay),
                logs);
        cleanup.add(process);
        parts.add(process);
        told.put("prometheus", "http://127.0.0.1:" + chosen + "/");
      } else {
        told.putNull("prometheus");
      }
      told.put("data", directory.toString());
    }
    print(told);
    parts.run();
    return ExitCode.GOOD;
  }

  private void print(String sentence, boolean asJson) {
    if (asJson) {
      LOG.error(sentence);
    } else {
      err().println(commandLine().getCommandSpec().qualifiedName() + ": " + sentence);
    }
  }

  private void checkOptions() {
    requireMemory("--task-manager-memory", MIN_TASK_MANAGER, taskManagerBytes);
    requireMemory("--service-memory", MIN_SERVICE, serviceBytes);
    List<String> words = new ArrayList<>(arguments().ofEvents());
    words.add("--bootstrap-servers=localhost:" + kafkaPort);
    KafkaOptions kafka = KafkaOptions.parse(words.toArray(String[]::new));
    kafka.check();
    kafka.events().checkCanonicaliser(options.keys().canonicaliser());
    options.snapshotTtlMillis();
    options.publicKeyWarning().ifPresent(text -> err().println("warning: " + text));
  }

  private static void requireMemory(String option, String least, long bytes) {
    if (bytes < MemorySize.parse(least).getBytes()) {
      throw new UserErrorException(
          "%s must be at least %s, got %d bytes".formatted(option, least, bytes));
    }
  }

  /** Creates the directory of all data if it is missing, and locks it until the process ends. */
  private void openData(Cleanup cleanup) throws IOException {
    if (Files.exists(data) && !Files.isDirectory(data)) {
      throw new UserErrorException("--data must be a directory, got the file " + data);
    }
    directory = Files.createDirectories(data.toAbsolutePath().normalize());
    Files.createDirectories(directory.resolve("logs"));
    Files.createDirectories(directory.resolve("prometheus/targets"));
    FileChannel lockFile =
        cleanup.open(() -> FileChannel.open(directory.resolve("lock"), CREATE, WRITE));
    if (lockFile.tryLock() == null) {
      throw new UserErrorException("another 'firstseen up' uses " + data);
    }
  }

  private void prepareTopics() throws Exception {
    try (Admin admin = admin()) {
      BrokerPreparation.makeTopics(
          admin,
          Stream.concat(
              events.topicPattern().isPresent() ? Stream.of() : events.topics().stream(),
              topics.stream()),
          options.stream().parallelism());
      keepsRemovals = BrokerPreparation.keepRemovals(admin, ACCEPTED_TOPIC, MAX_DOWNTIME);
    }
  }

  private Admin admin() {
    return Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers));
  }

  private FlinkProcesses startFlink() throws IOException {
    // The slots of both jobs, and two slots per TaskManager for jobs of the user.
    int slots = 2 * options.stream().parallelism() + 2 * taskManagers;
    return FlinkProcesses.start(
        directory.resolve("flink"),
        webPort,
        taskManagers,
        (slots + taskManagers - 1) / taskManagers,
        taskManagerBytes,
        logs);
  }

  private List<String> argumentsOf(String job) {
    boolean isDedup = !job.equals(SNAPSHOT_JOB);
    List<String> words = isDedup ? arguments().ofDedup() : arguments().ofSnapshots();
    if (isDedup) {
      // After a kill, the newest claim may belong to a job without a checkpoint.
      words.add("--take-over");
    }
    words.add("--bootstrap-servers=" + servers);
    words.add("--checkpoint-interval=" + OptionValues.write(checkpointInterval));
    if (keepsRemovals) {
      words.add("--max-downtime=" + OptionValues.write(MAX_DOWNTIME));
    }
    words.add("--transaction-timeout=" + OptionValues.write(TRANSACTION_TIMEOUT));
    return words;
  }

  private JobArguments arguments() {
    return new JobArguments(commandLine().getParseResult(), options);
  }

  /** The topics of events, or the pattern of their names, as in the option. */
  private String eventsTopic() {
    return events.topicPattern().map(Pattern::pattern).orElse(String.join(",", events.topics()));
  }

  /** Submits a job, and returns its id and the state that it starts from. */
  private ObjectNode startJob(FlinkRest rest, Path jar, String job) throws Exception {
    Path state = directory.resolve("flink/state").resolve(job);
    Optional<String> from = RetainedState.newest(state);
    if (job.equals(SNAPSHOT_JOB)) {
      // DedupJob does this itself, as it takes over. Flink commits or aborts the transactions of
      // the job from whose state it resumes. Not earlier, because a broker that has just started
      // does not know all its transactions yet.
      try (Admin admin = admin()) {
        BrokerPreparation.abortTransactions(
            admin,
            SNAPSHOT_TRANSACTIONS,
            RetainedState.jobs(state).stream()
                .filter(id -> from.isEmpty() || !RetainedState.isOf(id, from.get()))
                .toList());
      }
    }
    Map<String, String> settings = new HashMap<>();
    settings.put(CheckpointingOptions.CHECKPOINTS_DIRECTORY.key(), FlinkPath.of(state));
    settings.put(CheckpointingOptions.SAVEPOINT_DIRECTORY.key(), FlinkPath.of(state));
    if (from.isPresent() && RetainedState.isCheckpoint(from.get())) {
      // Otherwise the checkpoints of each start would be kept indefinitely.
      settings.put(StateRecoveryOptions.RESTORE_MODE.key(), RecoveryClaimMode.CLAIM.name());
    }
    String id =
        rest.run(
            new FlinkRest.Job(jar, "io.firstseen.jobs." + job, argumentsOf(job), settings, from));
    return Json.object().put("id", id).put("from", from.orElse(null));
  }

  private LocalProcess startService(int servicePort) throws IOException {
    List<String> words = new ArrayList<>(List.of("serve", "--port=" + servicePort));
    words.addAll(arguments().ofService());
    words.add("--bootstrap-servers=" + servers);
    words.add("--cache-dir=" + directory.resolve("snapshots"));
    // A service whose set exceeds its heap reports this and keeps its current sets.
    List<String> jvm =
        new ArrayList<>(
            List.of("-Xmx" + serviceBytes, "-XX:+UseSerialGC", "-XX:-ExitOnOutOfMemoryError"));
    jvm.addAll(logs.options());
    Map<String, String> environment =
        Map.of(
            LogFormatOption.VARIABLE,
            logs.json() ? "json" : "text",
            // The user's token is for another service, and Prometheus does not send it.
            "FIRSTSEEN_HTTP_TOKEN",
            "");
    String main = commandLine().getCommandSpec().root().userObject().getClass().getName();
    LocalProcess.Command command =
        LocalProcess.Command.java(main, ClassPath.ofThisJvm(), jvm, words, environment);
    URI health = URI.create("http://127.0.0.1:" + servicePort + "/healthz");
    return LocalProcess.start(
        "serve", logs.file("serve"), start -> command, start -> PrometheusProcess.answers(health));
  }

  private void print(ObjectNode told) {
    if (json) {
      out().println(Json.line(told));
    } else {
      out()
          .printf(
              """
              Kafka       %s, for events the topic %s
              Flink       %s
              snapshots   %s
              Prometheus  %s
              data, logs  %s
              Ctrl-C stops all processes; the next start resumes.
              """,
              told.get("kafka").asText(),
              eventsTopic(),
              told.get("flink").asText(),
              told.get("service").asText(),
              told.get("prometheus").asText("not on the PATH, so metrics are not stored"),
              told.get("data").asText());
    }
    out().flush();
  }
}
