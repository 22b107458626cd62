package io.firstseen.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.fixtures.EventStream;
import io.firstseen.fixtures.Project;
import io.firstseen.fixtures.ShortRun;
import io.firstseen.fixtures.TopicIo;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
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
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The shaded jar as a cluster runs it. */
class JobJarTest {

  private static final String HASH_KEY = "000102030405060708090a0b0c0d0e0f";

  private static final String PASSWORD = "of-nobody-at-all";

  // Without security.protocol=SASL_... Kafka's clients know it and do not use it.
  private static final String LOGIN =
      "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"somebody\""
          + " password=\"%s\";".formatted(PASSWORD);

  private static final String LOGGING =
      """
      rootLogger.level = INFO
      rootLogger.appenderRef.console.ref = console
      appender.console.name = console
      appender.console.type = Console
      appender.console.layout.type = PatternLayout
      appender.console.layout.pattern = %d %-5p %c - %m%n%xEx
      """;

  /** Libraries that the job jar must bring along, by their files' names. */
  private static final Pattern NOT_FLINK =
      Pattern.compile(
          "(filters|state-serializers|operators|jobs|snapshot-consumer|cli|siphash|hash4j"
              + "|crawler-commons|jackson|avro|protobuf-java|picocli|kafka|flink-connector-kafka|flink-connector-base)"
              + "[-_].*");

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.stock();

  private final String name = SharedBroker.unused("jar");

  @TempDir private Path directory;
  private Path jar;

  @BeforeEach
  void findJar() throws IOException {
    jar = Project.ROOT.resolve("jobs/target/jobs-" + Project.version() + "-job.jar");
    assertThat(jar).as("the job jar, made by mvn package").exists();
  }

  @Test
  void itHoldsTheJobsAndTheirLibrariesAndNothingOfFlinkItself() throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      List<String> names = file.stream().map(JarEntry::getName).toList();
      assertThat(names)
          .contains(
              "io/firstseen/jobs/PipelineJob.class",
              "io/firstseen/operators/dedup/Firstseen.class",
              "io/firstseen/serializers/OutcomeSerializer.class",
              "io/firstseen/filters/key/KeyHash.class",
              "io/firstseen/shaded/org/apache/flink/connector/kafka/sink/KafkaSink.class",
              "org/apache/kafka/clients/producer/KafkaProducer.class",
              "org/apache/avro/Schema.class",
              "com/google/protobuf/DynamicMessage.class",
              "META-INF/services/org.apache.kafka.common.config.provider.ConfigProvider");
      assertThat(names)
          .doesNotHaveDuplicates()
          .noneMatch(name -> name.startsWith("org/apache/flink/api/"))
          .noneMatch(name -> name.startsWith("org/apache/flink/runtime/"))
          .noneMatch(name -> name.startsWith("org/apache/flink/core/"))
          .noneMatch(name -> name.startsWith("org/apache/flink/configuration/"))
          .noneMatch(name -> name.startsWith("org/apache/flink/streaming/api/"))
          .noneMatch(name -> name.startsWith("org/apache/flink/connector/"))
          .noneMatch(name -> name.startsWith("org/apache/flink/streaming/connectors/"))
          .noneMatch(name -> name.startsWith("org/slf4j/"))
          .noneMatch(name -> name.startsWith("org/apache/logging/"))
          .noneMatch(name -> name.startsWith("META-INF/maven/"));
      assertThat(file.getManifest().getMainAttributes().getValue("Main-Class"))
          .isEqualTo("io.firstseen.jobs.PipelineJob");
    }
  }

  @Test
  void itsNoticeNamesEveryLibraryThatItBundles() throws IOException {
    Pattern bundled = Pattern.compile("^\\s+([\\w.-]+:[\\w.-]+):jar:");
    Pattern named = Pattern.compile("^- ([\\w.-]+:[\\w.-]+)");
    try (JarFile file = new JarFile(jar.toFile())) {
      String notice = text(file, "META-INF/NOTICE");
      assertThat(matches(named, notice))
          .containsExactlyInAnyOrderElementsOf(
              matches(bundled, Files.readString(jar.resolveSibling("bundled-libraries.txt"))));
      assertThat(text(file, "META-INF/LICENSE"))
          .isEqualTo(Files.readString(Path.of("..", "LICENSE")));
      List<String> texts = matches(Pattern.compile("\\((licenses/[\\w.-]+)\\)"), notice);
      assertThat(texts).isNotEmpty();
      for (String licence : texts) {
        assertThat(text(file, "META-INF/" + licence)).contains("Copyright");
      }
    }
  }

  private static String text(JarFile file, String name) throws IOException {
    assertThat(file.getEntry(name)).as(name).isNotNull();
    return new String(file.getInputStream(file.getEntry(name)).readAllBytes(), UTF_8);
  }

  private static List<String> matches(Pattern pattern, String text) {
    return text.lines()
        .map(pattern::matcher)
        .filter(Matcher::find)
        .map(matcher -> matcher.group(1))
        .toList();
  }

  /** By Flink's command line, which loads it as {@code flink run} does. */
  @Tag("slow")
  @Test
  void flinkRunsItNextToOtherConnectorsAndAnOlderKafkaClient() throws Exception {
    itRuns(true);
  }

  @Tag("slow")
  @Test
  void itRunsAsAProgramOfItsOwnWithNothingBesideItButFlink() throws Exception {
    itRuns(false);
  }

  private void itRuns(boolean byFlinkRun) throws Exception {
    try (TopicIo topics = new TopicIo(KAFKA.servers())) {
      KAFKA.create(name + ".events", "delete");
      List<String> events = new EventStream(15, 100).next(300);
      EventStream.Model model = new EventStream.Model().apply(events);
      topics.send(name + ".events", 1, events);
      Process job = start(KAFKA.servers(), byFlinkRun);
      try {
        awaitTopic(topics, job, name + ".accepted");
        topics.readUntil(name + ".accepted", READ_COMMITTED, read -> read.size() >= model.accepted);
        SnapshotClientOptions options =
            SnapshotClientOptions.builder(KAFKA.servers(), "firstseen")
                .topic(name + ".snapshots")
                .keyHash(KeyHash.parse(HASH_KEY))
                .build();
        try (SnapshotClient client = SnapshotClient.start(options)) {
          Manifest manifest = client.awaitReady(Duration.ofMinutes(1));
          // The first snapshot may belong to an early window.
          while (manifest.count() != model.live.size()) {
            manifest = client.awaitSequence(manifest.sequence() + 1, Duration.ofMinutes(1));
          }
        }
        assertThat(job.isAlive()).as(log()).isTrue();
        assertNoSecretIsShown();
      } finally {
        job.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
      }
      assertThat(log()).doesNotContain("no hash key is configured");
    }
  }

  /** Neither on the pages of Flink's web interface, nor in the log, with all settings in it. */
  private void assertNoSecretIsShown() throws Exception {
    Matcher found = Pattern.compile("Rest endpoint listening at ([^ ]+:\\d+)").matcher(log());
    assertThat(found.find()).as(log()).isTrue();
    URI web = URI.create("http://" + found.group(1));
    String jobs = get(web, "/jobs");
    Matcher id = Pattern.compile("[0-9a-f]{32}").matcher(jobs);
    assertThat(id.find()).as(jobs).isTrue();
    StringBuilder shown = new StringBuilder();
    for (String page :
        List.of(
            "/jobs/overview",
            "/jobs/" + id.group(),
            "/jobs/" + id.group() + "/config",
            "/jobs/" + id.group() + "/plan",
            "/jobs/" + id.group() + "/exceptions",
            "/jobs/" + id.group() + "/checkpoints/config",
            "/jobmanager/config",
            "/jobmanager/environment",
            "/jobmanager/metrics",
            "/taskmanagers")) {
      shown.append(get(web, page));
    }
    assertThat(shown).contains("firstseen-dedup");
    assertThat(log()).contains("sasl.jaas.config = [hidden]");
    for (String secret : List.of(HASH_KEY, PASSWORD)) {
      assertThat(shown).doesNotContain(secret);
      assertThat(log()).doesNotContain(secret);
    }
  }

  private static String get(URI web, String path) throws Exception {
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(web.resolve(path)).build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(path).isEqualTo(200);
    return answer.body();
  }

  @Test
  void theClassPathBesideItHasNothingOfOurs() throws Exception {
    assertThat(flinkAlone()).contains("flink-runtime-").doesNotContain("surefire");
    List<URL> jars = new ArrayList<>();
    for (String entry : flinkAlone().split(File.pathSeparator, -1)) {
      jars.add(Path.of(entry).toUri().toURL());
    }
    try (URLClassLoader alone =
        new URLClassLoader(jars.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      for (String missing :
          List.of(
              "io.firstseen.jobs.PipelineJob", "org.apache.kafka.clients.consumer.KafkaConsumer")) {
        assertThatThrownBy(() -> alone.loadClass(missing))
            .isInstanceOf(ClassNotFoundException.class);
      }
    }
  }

  private static String flinkAlone() {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return Arrays.stream(classPath.split(File.pathSeparator))
        .filter(entry -> entry.endsWith(".jar"))
        .filter(entry -> !NOT_FLINK.matcher(Path.of(entry).getFileName().toString()).matches())
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** As in a cluster that also runs SQL and has file systems in its lib instead of its plugins. */
  private static String flinkWithConnectors() throws IOException {
    // Another build may have used another Flink.
    Path lib = Path.of("target", "cluster-lib", EnvironmentInformation.getVersion());
    try (Stream<Path> jars = Files.list(lib)) {
      List<String> names = jars.map(Path::toString).sorted().toList();
      assertThat(names).hasSize(5);
      return String.join(File.pathSeparator, names) + File.pathSeparator + flinkAlone();
    }
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  private void awaitTopic(TopicIo topics, Process job, String topic) throws Exception {
    long deadlineNanos = System.nanoTime() + Duration.ofMinutes(2).toNanos();
    while (!topics.exists(topic)) {
      assertThat(job.isAlive()).as(log()).isTrue();
      assertThat(System.nanoTime()).as(log()).isLessThan(deadlineNanos);
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private Process start(String servers, boolean byFlinkRun) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(java());
    command.add("-Xmx512m");
    command.addAll(ShortRun.JVM_OPTIONS);
    command.add(
        "-Dlog4j2.configurationFile="
            + Files.writeString(directory.resolve("log4j2.properties"), LOGGING));
    if (byFlinkRun) {
      // As in Flink's default configuration.
      command.add("--add-opens=java.base/java.util=ALL-UNNAMED");
      command.addAll(
          List.of("-cp", flinkWithConnectors(), "org.apache.flink.client.cli.CliFrontend"));
      command.addAll(List.of("run", "--target", "local", jar.toString()));
    } else {
      command.addAll(List.of("-cp", jar + File.pathSeparator + flinkAlone()));
      command.add("io.firstseen.jobs.PipelineJob");
    }
    command.add("--bootstrap-servers=" + servers);
    command.add("--transactional-id-prefix=" + name);
    for (String topic : List.of("events", "accepted", "duplicates", "dead-letters", "snapshots")) {
      command.add("--" + topic + "-topic=" + name + "." + topic);
    }
    command.add("--checkpoint-interval=200ms");
    command.add("--checkpoint-dir=" + directory.resolve("checkpoints").toUri());
    command.add("--idle-timeout=1s");
    command.add("--fpr=0.0000001");
    command.add("--canonicaliser=url");
    Path kafka = Files.createTempFile(directory, "kafka", ".properties");
    command.add("--kafka-properties=" + Files.writeString(kafka, "sasl.jaas.config=" + LOGIN));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("log").toFile());
    builder.environment().put("FIRSTSEEN_HASH_KEY", HASH_KEY);
    Path configuration = Files.createDirectory(directory.resolve("conf"));
    Files.writeString(configuration.resolve("config.yaml"), "parallelism.default: 1\n");
    builder.environment().put("FLINK_CONF_DIR", configuration.toString());
    return builder.start();
  }

  private String log() {
    try {
      return Files.readString(directory.resolve("log"), UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
