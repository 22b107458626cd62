package io.firstseen.sql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.LocalPort;
import io.firstseen.fixtures.Project;
import io.firstseen.fixtures.ShortRun;
import io.firstseen.fixtures.SnapshotWriter;
import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The examples in Flink's own SQL client and SQL gateway, on a JobManager and a TaskManager of
 * their own. The SQL jar and Flink's SQL connector for Kafka are in their {@code lib}.
 */
class SqlClientIT {
  /** Libraries that are not in the lib of a cluster, by their files' names. */
  private static final Pattern NOT_FLINK =
      Pattern.compile(
          "(filters|state-serializers|operators|snapshot-consumer|embedded|fixtures|hash4j"
              + "|crawler-commons|jackson|kafka|flink-connector-kafka|flink-test-utils|junit"
              + "|assertj|awaitility)[-_].*");

  @TempDir private static Path directory;
  private static EmbeddedBroker broker;
  private static String flink;
  private static String flinkWithoutSqlJar;
  private static Path sqlJar;
  private static int gatewayPort;
  private static final List<Process> STARTED = new ArrayList<>();

  @BeforeAll
  static void start() throws Exception {
    sqlJar = Path.of("target", "sql-" + Project.version() + "-sql.jar").toAbsolutePath();
    assertThat(sqlJar).as("the SQL jar, made by mvn package").exists();
    try (Stream<Path> others = Files.list(Path.of("target", "sql-client"))) {
      flinkWithoutSqlJar =
          Stream.concat(
                  others.map(other -> other.toAbsolutePath().toString()).sorted(),
                  Arrays.stream(
                          System.getProperty(
                                  "surefire.test.class.path", System.getProperty("java.class.path"))
                              .split(File.pathSeparator, -1))
                      .filter(SqlClientIT::isFlink))
              .collect(Collectors.joining(File.pathSeparator));
    }
    flink = sqlJar + File.pathSeparator + flinkWithoutSqlJar;
    int webPort = LocalPort.free();
    gatewayPort = LocalPort.free();
    Files.writeString(
        Files.createDirectory(directory.resolve("conf")).resolve("config.yaml"),
        """
        jobmanager.rpc.address: localhost
        jobmanager.rpc.port: %d
        rest.address: localhost
        rest.port: %d
        sql-gateway.endpoint.rest.address: localhost
        sql-gateway.endpoint.rest.port: %d
        taskmanager.host: localhost
        taskmanager.numberOfTaskSlots: 4
        execution.checkpointing.dir: %s
        """
            .formatted(
                LocalPort.free(), webPort, gatewayPort, directory.resolve("checkpoints").toUri()));
    Files.writeString(
        directory.resolve("log4j2.properties"),
        """
        rootLogger.level = INFO
        rootLogger.appenderRef.console.ref = console
        appender.console.name = console
        appender.console.type = Console
        appender.console.target = SYSTEM_ERR
        appender.console.layout.type = PatternLayout
        appender.console.layout.pattern = %d %-5p %c - %m%n%xEx
        """);
    String configuration = "--configDir=" + directory.resolve("conf");
    launch(
        "jobmanager",
        flink,
        "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
        configuration);
    List<String> taskManager = new ArrayList<>(List.of(configuration));
    for (String size :
        List.of(
            "cpu.cores=2",
            "memory.task.heap.size=256m",
            "memory.task.off-heap.size=0",
            "memory.framework.heap.size=64m",
            "memory.framework.off-heap.size=64m",
            "memory.network.min=64m",
            "memory.network.max=64m",
            "memory.managed.size=64m",
            "memory.jvm-metaspace.size=256m",
            "memory.jvm-overhead.min=64m",
            "memory.jvm-overhead.max=64m")) {
      taskManager.addAll(List.of("-D", "taskmanager." + size));
    }
    launch(
        "taskmanager",
        flink,
        "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
        taskManager.toArray(String[]::new));
    launch(
        "gateway",
        flink,
        "org.apache.flink.table.gateway.SqlGateway",
        "-Dsql-gateway.endpoint.rest.port=" + gatewayPort);

    broker = EmbeddedBroker.start(directory.resolve("broker"), EmbeddedBroker.Settings.tuned());
    SnapshotWriter.createTopic(broker, "firstseen.snapshots");
    broker.createTopics(List.of(new NewTopic("visitors", 1, (short) 1)));
    try (SnapshotWriter snapshots = new SnapshotWriter(broker, "firstseen.snapshots")) {
      snapshots.publishAs("firstseen", 1, "https://example.org/b");
      snapshots.publishList("blocked", 1, "example.org/a");
      snapshots.publishList("allowed", 1, "example.org/b");
    }
    await("slots of the TaskManager")
        .atMost(Duration.ofMinutes(2))
        .until(() -> get(webPort, "/overview").contains("\"slots-total\":4"));
    await("the gateway")
        .atMost(Duration.ofMinutes(2))
        .until(() -> get(gatewayPort, "/v1/info").contains("Apache Flink"));
  }

  @AfterAll
  static void stop() throws Exception {
    for (Process process : STARTED) {
      process.destroyForcibly();
    }
    for (Process process : STARTED) {
      process.waitFor(10, TimeUnit.SECONDS);
    }
    broker.close();
  }

  private static boolean isFlink(String entry) {
    return entry.endsWith(".jar")
        && !NOT_FLINK.matcher(Path.of(entry).getFileName().toString()).matches();
  }

  private static Process launch(String name, String classPath, String program, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx512m");
    command.addAll(ShortRun.JVM_OPTIONS);
    command.add("-Dlog4j2.configurationFile=" + directory.resolve("log4j2.properties"));
    // As in Flink's default configuration.
    command.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
    command.add("--add-opens=java.base/java.util=ALL-UNNAMED");
    command.addAll(List.of("-cp", classPath, program));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(Project.ROOT.toAbsolutePath().normalize().toFile())
            .redirectOutput(output(name).toFile())
            .redirectError(directory.resolve(name + ".log").toFile());
    builder.environment().put("FLINK_CONF_DIR", directory.resolve("conf").toString());
    Process process = builder.start();
    STARTED.add(process);
    return process;
  }

  private static Path output(String name) {
    return directory.resolve(name + ".out");
  }

  /** The body, or an empty string if the server does not listen yet. */
  private static String get(int port, String path) throws Exception {
    try (Socket socket = new Socket("localhost", port)) {
      assertThat(socket.isConnected()).isTrue();
    } catch (IOException e) {
      return "";
    }
    URI uri = URI.create("http://localhost:%d%s".formatted(port, path));
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }

  /** Runs examples in one session of the SQL client, each statement until its job has ended. */
  private static void runExamples(
      String session, String classPath, List<String> names, String... arguments) throws Exception {
    StringBuilder script =
        new StringBuilder(
            """
            SET 'table.dml-sync' = 'true';
            SET 'sql-client.execution.result-mode' = 'tableau';
            """);
    for (String name : names) {
      script
          .append("DROP TABLE IF EXISTS clicks;\n")
          .append(Sql.example(name, directory, broker.bootstrapServers()));
    }
    Path file = Files.writeString(directory.resolve(session + ".sql"), script);
    List<String> options = new ArrayList<>(List.of(arguments));
    options.addAll(List.of("-f", file.toString()));
    Process client =
        launch(
            session,
            classPath,
            "org.apache.flink.table.client.SqlClient",
            options.toArray(String[]::new));
    assertThat(client.waitFor(3, TimeUnit.MINUTES)).as("%s has ended", session).isTrue();
    String printed = Files.readString(output(session), UTF_8);
    assertThat(client.exitValue())
        .as("%s%n%s", printed, Files.readString(directory.resolve(session + ".log"), UTF_8))
        .isZero();
    assertThat(printed).contains("Complete execution of the SQL update").doesNotContain("[ERROR]");
  }

  @Test
  void theClientRunsExamplesWithoutAGatewayAndWithTheJarAsAnOption() throws Exception {
    runExamples(
        "client",
        flinkWithoutSqlJar,
        List.of("before-a-topic.sql", "snapshot-contains.sql"),
        "--jar",
        sqlJar.toString());
    assertThat(Sql.lines(directory.resolve("listed")))
        .containsExactly("{\"url\":\"https://example.org/b\",\"visitor\":\"bob\"}");
    assertThat(broker.readCommitted("visitors"))
        .extracting(ConsumerRecord::value)
        .containsExactlyInAnyOrder(
            "{\"visitor\":\"ANN\"}", "{\"visitor\":\"BOB\"}", "{\"visitor\":\"CAY\"}");
  }

  @Test
  void theClientRunsExamplesOnAGateway() throws Exception {
    runExamples(
        "remote",
        flink,
        List.of("new-urls.sql", "outcomes.sql", "snapshot-match.sql"),
        "gateway",
        "--endpoint",
        "localhost:" + gatewayPort);
    assertThat(Sql.lines(directory.resolve("first-visits"))).hasSize(2);
    assertThat(Sql.lines(directory.resolve("accepted"))).hasSize(2);
    assertThat(Sql.lines(directory.resolve("duplicates"))).hasSize(2);
    assertThat(Sql.lines(directory.resolve("blocked"))).hasSize(3);
  }
}
