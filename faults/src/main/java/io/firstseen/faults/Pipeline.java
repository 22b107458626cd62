package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.processes.BrokerProcess;
import io.firstseen.cli.processes.FlinkRest;
import io.firstseen.cli.processes.LocalPorts;
import io.firstseen.cli.processes.LocalProcess;
import io.firstseen.cli.processes.RetainedState;
import io.firstseen.cli.shared.FlinkPath;
import io.firstseen.fixtures.TcpProxy;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;
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

  /** A TaskManager without heartbeats for this long is considered lost. */
  static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(15);

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

  private final Path directory;
  private final Settings settings;
  private final CheckpointDisk disk;
  private final TcpProxy brokerProxy;
  private final TcpProxy jobManagerProxy;
  private final Ports ports;
  private final Path clock;
  private final Optional<String> clockLibrary;
  private final FlinkRest rest;
  private final Map<String, LocalProcess> parts = new TreeMap<>();
  private final Map<Job, String> jobIds = new HashMap<>();
  private final Map<Job, String> backends = new HashMap<>();
  private final Map<Job, String> startedFrom = new HashMap<>();
  private final Jvm jvm;
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

  private record Ports(
      int broker, int watchers, int zooKeeper, int jobManager, int rest, int service) {

    static Ports free() throws IOException {
      return new Ports(
          LocalPorts.choose(0),
          LocalPorts.choose(0),
          LocalPorts.choose(0),
          LocalPorts.choose(0),
          LocalPorts.choose(0),
          LocalPorts.choose(0));
    }
  }

  /** Prepares files and proxies; starts no process yet. */
  Pipeline(Path directory, Settings settings) throws IOException, InterruptedException {
    this.directory = Files.createDirectories(directory);
    this.settings = settings;
    this.disk = new CheckpointDisk(directory.resolve("checkpoints"));
    this.ports = Ports.free();
    this.brokerProxy = new TcpProxy(0, ports.broker);
    this.jobManagerProxy = new TcpProxy(0, ports.jobManager);
    this.rest = new FlinkRest(URI.create("http://localhost:" + ports.rest));
    this.jvm = new Jvm(logConfiguration(), settings.jvm);
    this.clock = directory.resolve("clock");
    this.clockLibrary =
        CLOCK_LIBRARIES.stream()
            .filter(file -> settings.isBreakable && Files.exists(Path.of(file)))
            .findFirst();
    Files.createFile(
        hashKeyFile(),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(hashKeyFile(), HASH_KEY);
    Files.writeString(clock, "+0\n");
    for (String name : List.of("conf", "logs", "zookeeper", "ha", "savepoints", "tmp")) {
      Files.createDirectories(directory.resolve(name));
    }
    writeConfiguration();
    Runtime.getRuntime().addShutdownHook(cleaning);
  }

  private Path logConfiguration() {
    return directory.resolve("conf/log4j2.properties");
  }

  private void writeConfiguration() throws IOException {
    try (InputStream resource = Pipeline.class.getResourceAsStream("/log4j2-faults.properties")) {
      Files.copy(resource, logConfiguration());
    }
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
            .formatted(directory.resolve("zookeeper"), ports.zooKeeper));
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
                ports.jobManager,
                ports.zooKeeper,
                FlinkPath.of(directory.resolve("ha")),
                settings.isBreakable ? jobManagerProxy.port() : ports.jobManager,
                ports.rest,
                ports.rest,
                HEARTBEAT_TIMEOUT.toSeconds(),
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

  /** Where the parts write their logs. */
  Path logs() {
    return directory.resolve("logs");
  }

  /** The broker's address for the pipeline. */
  String brokers() {
    return settings.isBreakable ? "localhost:" + brokerProxy.port() : brokersForWatchers();
  }

  private ConsumerSpec<?> consumerSpec() {
    return new ConsumerSpec<>(
        settings.stream,
        brokers(),
        hashKeyFile().toString(),
        directory.resolve("consumer-cache").toString(),
        answers().toString());
  }

  /** The broker's address for those who watch. */
  String brokersForWatchers() {
    return "localhost:" + ports.watchers;
  }

  int servicePort() {
    return ports.service;
  }

  LocalProcess part(String name) {
    return parts.get(name);
  }

  /** All parts that have been started. */
  Collection<LocalProcess> parts() {
    return parts.values();
  }

  TcpProxy brokerProxy() {
    return brokerProxy;
  }

  TcpProxy jobManagerProxy() {
    return jobManagerProxy;
  }

  CheckpointDisk disk() {
    return disk;
  }

  FlinkRest rest() {
    return rest;
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
                    .formatted(ports.broker, ports.watchers),
                "advertised.listeners=PLAINTEXT://localhost:%d,DIRECT://localhost:%d"
                    .formatted(brokerProxy.port(), ports.watchers),
                "listener.security.protocol.map="
                    + "PLAINTEXT:PLAINTEXT,DIRECT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "inter.broker.listener.name=DIRECT",
                // The brokers' default limit for jobs.
                "transaction.max.timeout.ms=900000"));
    brokerArguments.addAll(settings.broker);
    startPart(
        "broker",
        jvm.ours(512, BrokerProcess.class.getName(), brokerArguments),
        start -> listens(ports.watchers));
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
    awaitTaskManagers();
    submit(Job.DEDUP, 2, HEAP, null);
    submit(Job.SNAPSHOTS, 2, HEAP, null);
    startPart(
        "consumer",
        jvm.ours(
            256,
            settings.consumer.getName(),
            List.of(new ObjectMapper().writeValueAsString(consumerSpec()))),
        start -> true);
    startPart(
        "serve",
        jvm.ours(
            256,
            "io.firstseen.cli.Main",
            List.of(
                "serve",
                "--bootstrap-servers=" + brokers(),
                "--set=" + SET,
                "--hash-key-file=" + hashKeyFile(),
                "--cache-dir=" + directory.resolve("serve-cache"),
                "--port=" + ports.service)),
        start -> true);
  }

  private void startCluster() throws IOException {
    String conf = directory.resolve("conf").toString();
    startPart(
        "zookeeper",
        jvm.flink(
            96,
            "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer",
            List.of(
                "--zkConfigFile", directory.resolve("conf/zoo.cfg").toString(), "--peerId", "1")),
        start -> listens(ports.zooKeeper));
    startPart(
        "jobmanager",
        jvm.flink(
            512,
            "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
            List.of("--configDir", conf)),
        start -> true);
    Map<String, String> environment = new HashMap<>();
    clockLibrary.ifPresent(
        library ->
            environment.putAll(
                Map.of(
                    "LD_PRELOAD",
                    library,
                    "FAKETIME_TIMESTAMP_FILE",
                    clock.toString(),
                    "FAKETIME_CACHE_DURATION",
                    "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC",
                    "1",
                    // Else each timed wait of a JVM ends at once, and a dozen threads spin.
                    "FAKETIME_FORCE_MONOTONIC_FIX",
                    "0")));
    for (int number = 1; number <= 2; number++) {
      startPart(
          "taskmanager-" + number,
          jvm.flink(
              settings.taskHeapMebibytes + 64,
              List.of("-XX:MaxDirectMemorySize=320m", "-XX:MaxMetaspaceSize=256m"),
              "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
              List.of("--configDir", conf, "-D", "taskmanager.resource-id=taskmanager-" + number),
              // The clock of one of them can be set.
              number == 2 ? environment : Map.of()),
          start -> true);
    }
  }

  private void startPart(
      String name, LocalProcess.Command command, LocalProcess.Readiness readiness)
      throws IOException {
    parts.put(
        name, LocalProcess.start(name, logs().resolve(name + ".log"), start -> command, readiness));
  }

  private static boolean listens(int port) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    }
  }

  /** Waits until both TaskManagers have registered. */
  private void awaitTaskManagers() throws Exception {
    long deadlineNanos = System.nanoTime() + START_TIMEOUT.toNanos();
    while (!hasTaskManagers()) {
      for (String name : CLUSTER) {
        if (!part(name).isAlive()) {
          throw new IOException("%s has ended: %s".formatted(name, part(name).tail(1)));
        }
      }
      if (System.nanoTime() - deadlineNanos > 0) {
        throw new IOException(
            "the TaskManagers have not registered within %s, see %s"
                .formatted(START_TIMEOUT, logs()));
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
   * Starts a job.
   *
   * @param from the savepoint or checkpoint to start from; null for none
   */
  void submit(Job job, int parallelism, String backend, @Nullable String from) throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.add("--bootstrap-servers=" + brokers());
    arguments.add("--hash-key-file=" + hashKeyFile());
    arguments.add("--hash-key-on-workers");
    arguments.add("--checkpoint-dir=" + FlinkPath.of(disk.directory()));
    arguments.add("--checkpoint-interval=" + settings.checkpointInterval);
    arguments.add("--idle-timeout=1h");
    arguments.add("--parallelism=" + parallelism);
    arguments.add("--state-backend=" + backend);
    if (job == Job.DEDUP) {
      arguments.addAll(settings.dedup);
      // After the loss of a cluster the newest claim may be of a job that left no checkpoint.
      arguments.add("--take-over");
    } else {
      arguments.addAll(settings.snapshots);
      arguments.add("--set=" + SET);
    }
    if (from != null) {
      startedFrom.put(job, from);
    }
    backends.put(job, backend);
    jobIds.put(
        job,
        rest.run(
            new FlinkRest.Job(settings.jobJar, job.main, arguments, Optional.ofNullable(from))));
  }

  String jobId(Job job) {
    return jobIds.get(job);
  }

  /** Stops a job with a savepoint, and starts it again from there on the other backend. */
  void restart(Job job, int parallelism) throws Exception {
    String backend = backends.get(job).equals(HEAP) ? "rocksdb" : HEAP;
    String savepoints = FlinkPath.of(directory.resolve("savepoints"));
    submit(job, parallelism, backend, rest.stopWithSavepoint(jobId(job), savepoints, false));
  }

  /** Kills the cluster with all that it knows of its jobs. */
  void loseCluster() throws Exception {
    for (String name : CLUSTER) {
      part(name).kill();
    }
    for (String name : List.of("zookeeper", "ha")) {
      FileUtils.deleteDirectory(directory.resolve(name).toFile());
      Files.createDirectories(directory.resolve(name));
    }
  }

  /** Starts a new cluster, and in it the jobs from their last retained checkpoints. */
  void startAgain(int parallelism) throws Exception {
    for (String name : CLUSTER) {
      part(name).startWithoutWaiting();
    }
    awaitTaskManagers();
    for (Job job : Job.values()) {
      // Unlike a savepoint, a checkpoint can be restored only by the backend that wrote it.
      submit(job, parallelism, backends.get(job), newestState(job));
    }
  }

  /** The newest retained checkpoint of a job, or what it started from before it had any. */
  private @Nullable String newestState(Job job) throws IOException {
    return RetainedState.newest(disk.directory().resolve(jobId(job)))
        .orElseGet(() -> startedFrom.get(job));
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
      try (Stream<String> lines = Files.lines(part.log(), StandardCharsets.ISO_8859_1)) {
        List<String> errors = lines.filter(line -> line.contains(" ERROR ")).toList();
        errors
            .subList(Math.max(0, errors.size() - 3), errors.size())
            .forEach(line -> text.append(part.name()).append(": ").append(line).append('\n'));
      }
    }
    return text.toString();
  }
}
