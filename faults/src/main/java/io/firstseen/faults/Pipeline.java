package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.Main;
import io.firstseen.embedded.FlinkPath;
import io.firstseen.fixtures.TcpProxy;
import io.firstseen.processes.BrokerProcess;
import io.firstseen.processes.ClassPath;
import io.firstseen.processes.FlinkRest;
import io.firstseen.processes.LocalPorts;
import io.firstseen.processes.LocalProcess;
import io.firstseen.processes.ProcessLogs;
import io.firstseen.processes.RetainedState;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.function.FunctionWithException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The pipeline as processes of this machine: a broker, ZooKeeper for Flink's high availability, a
 * JobManager, two TaskManagers, both jobs, a consumer, and the HTTP service. All but those who
 * watch reach the broker through a proxy, and the TaskManagers reach the JobManager through
 * another.
 */
final class Pipeline implements Closeable {
  static final String EVENTS = "firstseen.events";
  static final String ACCEPTED = "firstseen.accepted";
  static final String DUPLICATES = "firstseen.duplicates";
  static final String DEAD_LETTERS = "firstseen.dead-letters";
  static final String SNAPSHOTS = "firstseen.snapshots";
  static final String SET = "firstseen";

  /** For programs that start often, and do little. */
  static final List<String> SMALL_JVM = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private static final int HEARTBEAT_TIMEOUT_SECONDS = 15;

  /** A TaskManager without heartbeats for this long is considered lost. */
  static final long LOST_MILLIS = 1000L * HEARTBEAT_TIMEOUT_SECONDS + 3000;

  /** For so long other faults last at least. */
  static final long NOTICED_MILLIS = 8000;

  /** On a machine that is busy, the processes take minutes. */
  private static final Duration START_TIMEOUT = Duration.ofMinutes(5);

  private static final int SLOTS = 6;
  private static final String HEAP = "heap";
  private static final String HASH_KEY = "00112233445566778899aabbccddeeff";
  private static final List<String> CLUSTER =
      List.of("zookeeper", "jobmanager", "taskmanager-1", "taskmanager-2");
  private static final List<String> CLOCK_LIBRARIES =
      List.of(
          "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
          "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1");

  /**
   * What the job jar must bring along, by the names of the files. The module {@code processes} is
   * there since it starts the processes.
   */
  private static final Pattern NOT_FLINK =
      Pattern.compile(
          "(filters|state-serializers|operators|events|jobs|snapshot-consumer|snapshot-server|cli|faults"
              + "|testing|siphash|hash4j|crawler-commons|jackson|avro|protobuf-java|picocli|kafka"
              + "|flink-connector-kafka|flink-connector-base|micrometer|prometheus)[-_].*");

  private static final String FLINK = "org.apache.flink.";

  private static final List<String> FLINK_OPTIONS =
      List.of(
          // As in Flink's default configuration.
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          // For a machine that is busy. Flink's pekko.startup-timeout does not reach Pekko.
          "-Dpekko.remote.classic.startup-timeout=120s");

  final CheckpointDisk disk;
  final TcpProxy brokerProxy;
  final TcpProxy jobManagerProxy;
  final FlinkRest rest;
  final int servicePort = LocalPorts.choose(0);

  private final int brokerPort = LocalPorts.choose(0);
  private final int watchersPort = LocalPorts.choose(0);
  private final int zooKeeperPort = LocalPorts.choose(0);
  private final int jobManagerPort = LocalPorts.choose(0);
  private final int restPort = LocalPorts.choose(0);
  private final Path directory;
  private final Settings settings;
  private final ProcessLogs logs;
  private final Path clock;
  private final Optional<String> clockLibrary;
  private final Map<String, LocalProcess> parts = new TreeMap<>();
  private final Map<Job, RunningJob> jobs = new EnumMap<>(Job.class);
  private final Thread cleaning = new Thread(this::killAll);

  /**
   * How the pipeline is set up.
   *
   * @param jobJar the shaded jar of the jobs
   * @param isBreakable whether the parts reach each other through proxies, and one TaskManager has
   *     a separate clock
   * @param topics the topics to create: the topic of events, and topics that the jobs would create
   *     otherwise
   * @param broker more settings of the broker
   * @param taskHeapMebibytes heap of a TaskManager for its tasks
   * @param jvm options of all JVMs
   * @param checkpointInterval of both jobs
   * @param dedup more options of the dedup
   * @param snapshots more options of the snapshot job
   * @param consumer the main class of the consumer
   * @param stream the events that the consumer knows
   */
  record Settings(
      Path jobJar,
      boolean isBreakable,
      List<NewTopic> topics,
      List<String> broker,
      int taskHeapMebibytes,
      List<String> jvm,
      String checkpointInterval,
      List<String> dedup,
      List<String> snapshots,
      Class<?> consumer,
      Object stream) {}

  enum Job {
    DEDUP("io.firstseen.jobs.DedupJob"),
    SNAPSHOTS("io.firstseen.jobs.SnapshotJob");

    private final String main;

    Job(String main) {
      this.main = main;
    }
  }

  /**
   * A job that was started.
   *
   * @param from the savepoint or checkpoint that it started from; null for none
   */
  private record RunningJob(String id, String backend, @Nullable String from) {}

  /** Prepares files and proxies; starts no process yet. */
  Pipeline(Path directory, Settings settings) throws IOException, InterruptedException {
    this.directory = directory;
    this.settings = settings;
    for (String name : List.of("conf", "logs", "zookeeper", "ha", "savepoints", "tmp")) {
      Files.createDirectories(directory.resolve(name));
    }
    this.disk = new CheckpointDisk(directory.resolve("checkpoints"));
    this.brokerProxy = new TcpProxy(0, brokerPort);
    this.jobManagerProxy = new TcpProxy(0, jobManagerPort);
    this.rest = new FlinkRest(URI.create("http://localhost:" + restPort));
    this.logs = new ProcessLogs(directory.resolve("logs"), false);
    this.clock = directory.resolve("clock");
    this.clockLibrary =
        CLOCK_LIBRARIES.stream()
            .filter(file -> settings.isBreakable && Files.exists(Path.of(file)))
            .findFirst();
    Files.createFile(
        hashKeyFile(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(hashKeyFile(), HASH_KEY);
    stepClock(0);
    writeConfiguration();
    Runtime.getRuntime().addShutdownHook(cleaning);
  }

  private void writeConfiguration() throws IOException {
    Files.writeString(
        directory.resolve("conf/zoo.cfg"),
        """
        tickTime=500
        dataDir=%s
        clientPort=%d
        clientPortAddress=localhost
        initLimit=10
        syncLimit=5
        admin.enableServer=false
        """
            .formatted(directory.resolve("zookeeper"), zooKeeperPort));
    Path tmp = directory.resolve("tmp");
    Files.writeString(
        directory.resolve("conf/config.yaml"),
        """
        jobmanager.rpc.address: localhost
        jobmanager.bind-host: localhost
        jobmanager.rpc.bind-port: %d
        high-availability.type: zookeeper
        high-availability.zookeeper.quorum: localhost:%d
        high-availability.zookeeper.client.session-timeout: 15s
        high-availability.storageDir: %s
        high-availability.jobmanager.port: "%d"
        jobmanager.memory.jvm-metaspace.size: 256m
        jobmanager.memory.heap.size: 512m
        rest.address: localhost
        rest.bind-address: localhost
        rest.port: %d
        rest.bind-port: "%d"
        pekko.ask.timeout: 60s
        heartbeat.interval: 1s
        heartbeat.timeout: %ds
        taskmanager.host: localhost
        taskmanager.bind-host: localhost
        taskmanager.numberOfTaskSlots: %d
        taskmanager.load-balance.mode: SLOTS
        taskmanager.cpu.cores: 2.0
        taskmanager.memory.task.heap.size: %dm
        taskmanager.memory.task.off-heap.size: 64m
        taskmanager.memory.framework.heap.size: 64m
        taskmanager.memory.framework.off-heap.size: 64m
        taskmanager.memory.network.min: 64m
        taskmanager.memory.network.max: 64m
        taskmanager.memory.managed.size: 96m
        taskmanager.memory.jvm-metaspace.size: 256m
        taskmanager.memory.jvm-overhead.min: 64m
        taskmanager.memory.jvm-overhead.max: 64m
        io.tmp.dirs: %s
        process.working-dir: %s
        web.tmpdir: %s
        execution.checkpointing.savepoint-dir: %s
        """
            .formatted(
                jobManagerPort,
                zooKeeperPort,
                FlinkPath.of(directory.resolve("ha")),
                settings.isBreakable ? jobManagerProxy.port() : jobManagerPort,
                restPort,
                restPort,
                HEARTBEAT_TIMEOUT_SECONDS,
                SLOTS,
                settings.taskHeapMebibytes,
                tmp,
                tmp,
                tmp,
                FlinkPath.of(directory.resolve("savepoints"))));
  }

  Path hashKeyFile() {
    return directory.resolve("hash.key");
  }

  /** Where the consumer writes what it was answered. */
  Path answers() {
    return directory.resolve("answers.jsonl");
  }

  /** The broker's address for the pipeline. */
  private String brokers() {
    return settings.isBreakable ? "localhost:" + brokerProxy.port() : brokersForWatchers();
  }

  /** The broker's address for those who watch. */
  String brokersForWatchers() {
    return "localhost:" + watchersPort;
  }

  LocalProcess part(String name) {
    return parts.get(name);
  }

  /** All parts that have been started. */
  Collection<LocalProcess> parts() {
    return parts.values();
  }

  /** Whether the clock of the second TaskManager can be set. */
  boolean hasClock() {
    return clockLibrary.isPresent();
  }

  /** Sets the clock of the second TaskManager, by seconds relative to the system clock. */
  void stepClock(long seconds) throws IOException {
    Files.writeString(clock, "%+d%n".formatted(seconds));
  }

  void start() throws Exception {
    List<String> brokerArguments =
        new ArrayList<>(
            List.of(
                directory.resolve("kafka").toString(),
                "0",
                "listeners=PLAINTEXT://localhost:%d,DIRECT://localhost:%d,CONTROLLER://localhost:0"
                    .formatted(brokerPort, watchersPort),
                "advertised.listeners=PLAINTEXT://localhost:%d,DIRECT://localhost:%d"
                    .formatted(brokerProxy.port(), watchersPort),
                "listener.security.protocol.map="
                    + "PLAINTEXT:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "inter.broker.listener.name=DIRECT",
                // The brokers' default limit for jobs.
                "transaction.max.timeout.ms=900000"));
    brokerArguments.addAll(settings.broker);
    startPart(
        "broker",
        512,
        BrokerProcess.class.getName(),
        brokerArguments,
        start -> listens(watchersPort));
    try (Admin admin =
        Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, brokersForWatchers()))) {
      admin.createTopics(settings.topics).all().get(60, TimeUnit.SECONDS);
      Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
      for (NewTopic topic : settings.topics) {
        for (int partition = 0; partition < topic.numPartitions(); partition++) {
          ends.put(new TopicPartition(topic.name(), partition), OffsetSpec.latest());
        }
      }
      // Only then a producer loses nothing.
      admin.listOffsets(ends).all().get(60, TimeUnit.SECONDS);
    }
    startCluster();
    submit(Job.DEDUP, 2, HEAP, null);
    submit(Job.SNAPSHOTS, 2, HEAP, null);
    Path cache = directory.resolve("consumer-cache");
    ConsumerSpec<?> spec =
        new ConsumerSpec<>(settings.stream, brokers(), hashKeyFile(), cache, answers());
    String json = new ObjectMapper().writeValueAsString(spec);
    startPart("consumer", 256, settings.consumer.getName(), List.of(json), start -> true);
    startPart(
        "serve",
        256,
        Main.class.getName(),
        List.of(
            "serve",
            "--bootstrap-servers=" + brokers(),
            "--set=" + SET,
            "--hash-key-file=" + hashKeyFile(),
            "--cache-dir=" + directory.resolve("serve-cache"),
            "--port=" + servicePort),
        start -> true);
  }

  private void startCluster() throws IOException, InterruptedException {
    String conf = directory.resolve("conf").toString();
    startPart(
        "zookeeper",
        96,
        FLINK + "runtime.zookeeper.FlinkZooKeeperQuorumPeer",
        List.of("--zkConfigFile", conf + "/zoo.cfg", "--peerId", "1"),
        start -> listens(zooKeeperPort));
    startPart(
        "jobmanager",
        512,
        FLINK + "runtime.entrypoint.StandaloneSessionClusterEntrypoint",
        List.of("--configDir", conf),
        start -> true);
    for (int number = 1; number <= 2; number++) {
      startPart(
          "taskmanager-" + number,
          settings.taskHeapMebibytes + 64,
          FLINK + "runtime.taskexecutor.TaskManagerRunner",
          List.of("--configDir", conf, "-D", "taskmanager.resource-id=taskmanager-" + number),
          start -> true);
    }
    awaitTaskManagers();
  }

  private void awaitTaskManagers() throws IOException, InterruptedException {
    long deadlineNanos = System.nanoTime() + START_TIMEOUT.toNanos();
    while (!hasTaskManagers()) {
      for (String name : CLUSTER) {
        if (!part(name).isAlive()) {
          throw new IOException("%s has ended: %s".formatted(name, part(name).lastLine()));
        }
      }
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new IOException(
            "the TaskManagers have not registered within " + START_TIMEOUT.toSeconds() + " s");
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private boolean hasTaskManagers() {
    try {
      return rest.hasTaskManagers(2);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Starts a main class: one of Flink with Flink alone on its class path, another one with all that
   * this program has.
   */
  private void startPart(
      String name,
      int heapMebibytes,
      String main,
      List<String> arguments,
      FunctionWithException<Integer, Boolean, IOException> readiness)
      throws IOException {
    List<String> options = new ArrayList<>(logs.options());
    options.addAll(settings.jvm);
    options.add("-Xmx" + heapMebibytes + "m");
    List<Path> classPath = ClassPath.ofThisJvm();
    if (main.startsWith(FLINK)) {
      options.addAll(FLINK_OPTIONS);
      if (name.startsWith("taskmanager")) {
        options.addAll(List.of("-XX:MaxDirectMemorySize=320m", "-XX:MaxMetaspaceSize=256m"));
      }
      classPath =
          classPath.stream()
              .filter(jar -> jar.toString().endsWith(".jar"))
              .filter(jar -> !NOT_FLINK.matcher(jar.getFileName().toString()).matches())
              .toList();
    }
    Map<String, String> ownClock =
        Map.of(
            "LD_PRELOAD",
            clockLibrary.orElse(""),
            "FAKETIME_TIMESTAMP_FILE",
            clock.toString(),
            "FAKETIME_CACHE_DURATION",
            "1",
            "FAKETIME_DONT_FAKE_MONOTONIC",
            "1",
            // Else each timed wait of a JVM ends at once, and a dozen threads spin.
            "FAKETIME_FORCE_MONOTONIC_FIX",
            "0");
    // The clock of one of the TaskManagers can be set.
    Map<String, String> environment =
        name.equals("taskmanager-2") && hasClock() ? ownClock : Map.of();
    LocalProcess.Command command =
        LocalProcess.Command.java(main, classPath, options, arguments, environment);
    parts.put(name, LocalProcess.start(name, logs.file(name), start -> command, readiness));
  }

  private static boolean listens(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    }
  }

  /**
   * Starts a job.
   *
   * @param from the savepoint or checkpoint to start from; null for none
   */
  private void submit(Job job, int parallelism, String backend, @Nullable String from)
      throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--bootstrap-servers=" + brokers(),
                "--hash-key-file=" + hashKeyFile(),
                "--hash-key-on-workers",
                "--checkpoint-dir=" + FlinkPath.of(disk.directory),
                "--checkpoint-interval=" + settings.checkpointInterval,
                "--idle-timeout=1h",
                "--parallelism=" + parallelism,
                "--state-backend=" + backend));
    if (job == Job.DEDUP) {
      arguments.addAll(settings.dedup);
      // After the loss of a cluster the newest claim may be of a job that left no checkpoint.
      arguments.add("--take-over");
    } else {
      arguments.addAll(settings.snapshots);
      arguments.add("--set=" + SET);
    }
    FlinkRest.Job request =
        new FlinkRest.Job(
            settings.jobJar, job.main, arguments, Map.of(), Optional.ofNullable(from));
    jobs.put(job, new RunningJob(rest.run(request), backend, from));
  }

  String jobId(Job job) {
    return jobs.get(job).id;
  }

  /** Stops a job with a savepoint, and starts it again from there on the other backend. */
  void restart(Job job, int parallelism) throws IOException {
    String backend = jobs.get(job).backend.equals(HEAP) ? "rocksdb" : HEAP;
    String savepoints = FlinkPath.of(directory.resolve("savepoints"));
    submit(job, parallelism, backend, rest.stopWithSavepoint(jobId(job), savepoints));
  }

  /** Kills the cluster with all that it knows of its jobs. */
  void loseCluster() throws IOException {
    CLUSTER.forEach(name -> part(name).kill());
    for (String name : List.of("zookeeper", "ha")) {
      FileUtils.deleteDirectory(directory.resolve(name).toFile());
      Files.createDirectories(directory.resolve(name));
    }
  }

  /** Starts a new cluster, and in it the jobs from their last retained checkpoints. */
  void startAgain(int parallelism) throws IOException, InterruptedException {
    for (String name : CLUSTER) {
      part(name).startWithoutWaiting();
    }
    awaitTaskManagers();
    for (Job job : Job.values()) {
      RunningJob before = jobs.get(job);
      // A job without a checkpoint starts from what it started from. Unlike a savepoint, a
      // checkpoint can be restored only by the backend that wrote it.
      String from = RetainedState.newest(disk.directory.resolve(before.id)).orElse(before.from);
      submit(job, parallelism, before.backend, from);
    }
  }

  /** Kills all processes. */
  @Override
  public void close() throws IOException {
    Runtime.getRuntime().removeShutdownHook(cleaning);
    killAll();
    brokerProxy.close();
    jobManagerProxy.close();
  }

  private void killAll() {
    parts.values().forEach(LocalProcess::kill);
    disk.remove();
  }

  /**
   * Starts the parts again that have ended by themselves, as a supervisor of a deployment does.
   *
   * @return their names
   */
  List<String> superviseAll() throws IOException {
    List<String> ended = new ArrayList<>();
    for (LocalProcess part : parts.values()) {
      if (!part.isAlive()) {
        ended.add(part.name());
        part.startWithoutWaiting();
      }
    }
    return ended;
  }

  /** The last errors in all logs, for people. */
  String lastErrors() throws IOException {
    StringBuilder text = new StringBuilder();
    for (LocalProcess part : parts.values()) {
      List<String> lines = Files.readAllLines(part.log(), StandardCharsets.ISO_8859_1);
      lines.removeIf(line -> !line.contains(" ERROR "));
      lines.stream()
          .skip(Math.max(0, lines.size() - 3))
          .forEach(line -> text.append(part.name()).append(": ").append(line).append('\n'));
    }
    return text.toString();
  }
}
