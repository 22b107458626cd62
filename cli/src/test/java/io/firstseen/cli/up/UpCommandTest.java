package io.firstseen.cli.up;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientMetrics;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.kafka.BrokerPreparation;
import io.firstseen.processes.FlinkRest;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Runs {@code up}, queries it, and runs another {@code up} that resumes from its data. */
@DisabledOnOs(OS.WINDOWS)
@Tag("slow")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class UpCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Path ROOT = Path.of("..");
  private static final String HASH_KEY = "000102030405060708090a0b0c0d0e0f";
  private static final String ACCEPTED = "firstseen.accepted";

  /** How events are written on a topic of the user. */
  private static final List<String> OF_EVENTS =
      List.of(
          "--events-topic=links",
          "--key-field=/link",
          "--time-field=/at",
          "--operation-field=/action",
          "--delete-values=drop,remove");

  private static final long START_MILLIS = 1_700_000_000_000L;

  /** A selector of a metric, with its labels. */
  private static final Pattern SELECTOR =
      Pattern.compile("(?:flink|firstseen)_[a-z]\\w*(?:\\{[^}]*\\})?");

  @TempDir private static Path directory;
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static CommandProcess up;
  private static JsonNode addresses;
  private static int ups;
  private static int sent;
  private static Producer<byte[], byte[]> leftOpen;

  @BeforeAll
  static void start() throws Exception {
    up = startUp();
  }

  @AfterAll
  static void stop() {
    up.close();
  }

  private static CommandProcess startUp() throws Exception {
    Path work = Files.createDirectory(directory.resolve("up-" + ++ups));
    List<String> words = new ArrayList<>(List.of("up"));
    words.addAll(OF_EVENTS);
    words.addAll(
        List.of(
            "--data=" + directory.resolve("my data"),
            "--kafka-port=0",
            "--topics=clicks",
            "--web-port=0",
            "--port=0",
            "--prometheus-port=0",
            "--scrape-interval=500ms",
            "--checkpoint-interval=500ms",
            "--task-manager-memory=1g",
            "--canonicaliser=url-expression",
            "--state-backend=rocksdb",
            "--audit-slice=1",
            "--window=10s",
            "--idle-timeout=1s",
            "--json"));
    CommandProcess process =
        CommandProcess.startWithHashKey(HASH_KEY, work, words.toArray(String[]::new));
    try {
      await("it is up")
          .atMost(LONG)
          .until(
              () -> {
                assertThat(Files.readString(work.resolve("err"))).isEmpty();
                return Files.readString(work.resolve("out")).endsWith("\n");
              });
      addresses = JSON.readTree(Files.readString(work.resolve("out")));
      return process;
    } catch (Throwable e) {
      process.close();
      throw e;
    }
  }

  @Test
  @Order(1)
  void firstSeenKeysAreAcceptedAndServed() throws Exception {
    assertThat(addresses.path("jobs").path("DedupJob").path("from").isNull()).isTrue();
    await("the service says when to expect a snapshot")
        .atMost(LONG)
        .until(
            () ->
                get(address("service").resolve("readyz"))
                    .body()
                    .contains(
                        "the first one is expected at most 11s plus --checkpoint-interval of the"
                            + " jobs after the first event"));
    try (TopicIo topics = new TopicIo(addresses.path("kafka").asText())) {
      send(topics, events(0, 100));
      send(topics, events(0, 100));
      assertThat(accepted(topics, 100)).hasSize(100);
      send(topics, events(2_000, 1));
      topics.send("clicks", 1, List.of("a key of a job of one's own"));
    }
    await("the snapshot is served").atMost(LONG).until(() -> isListed(99));
    await("the snapshot with the next key is served").atMost(LONG).until(() -> isListed(2_000));
    try (TopicIo topics = new TopicIo(addresses.path("kafka").asText())) {
      send(topics, List.of(event("remove", 2_000)));
    }
    await("the removed key leaves the set").atMost(LONG).until(() -> !isListed(2_000));
    assertThat(addresses.path("eventsTopic").asText()).isEqualTo("links");
    assertThat(isListed(100)).isFalse();
    assertThat(get(address("flink").resolve("config")).body()).doesNotContain(HASH_KEY);
  }

  @Test
  @Order(2)
  void everyQueryOfTheDashboardIsAnswered() throws Exception {
    requirePrometheus();
    Set<String> queries = new TreeSet<>();
    JsonNode dashboard =
        JSON.readTree(Files.readString(ROOT.resolve("deploy/grafana/firstseen.json")));
    for (JsonNode panel : dashboard.path("panels")) {
      for (JsonNode target : panel.path("targets")) {
        queries.add(
            target
                .path("expr")
                .asText()
                .replace("$job", ".*")
                .replace("$set", ".*")
                .replace("$__rate_interval", "20s"));
      }
    }
    assertThat(queries).hasSizeGreaterThan(40);
    FlinkRest flink = new FlinkRest(address("flink"));
    // An audit and an exact mode exclude each other.
    String exact = flink.run(job("exact", "--mode=exact", "--canonicaliser=url-expression"));
    flink.awaitRunning(exact, LONG);
    String near = flink.run(job("near", "--near=short", "--canonicaliser=text", "--audit-slice=1"));
    flink.awaitRunning(near, LONG);
    try (SnapshotClient client =
            SnapshotClient.start(
                SnapshotClientOptions.builder(addresses.path("kafka").asText(), "firstseen")
                    .keyHash(KeyHash.parse(HASH_KEY))
                    .build());
        TopicIo topics = new TopicIo(addresses.path("kafka").asText())) {
      HttpServer program = program(client);
      try {
        awaitAnswers(
            queries,
            () -> {
              send(topics, events(sent % 1000, 50));
              send(topics, events(sent % 1000, 50));
              isListed(0);
              return get(address("service").resolve("v1/contains?key=x")).statusCode();
            });
      } finally {
        program.stop(0);
      }
    }
    flink.cancel(exact);
    flink.cancel(near);
  }

  @Test
  @Order(3)
  void everyAlertHasItsMetrics() throws Exception {
    requirePrometheus();
    Set<String> selectors = new TreeSet<>();
    JsonNode groups = prometheus("rules").path("data").path("groups");
    for (JsonNode group : groups) {
      for (JsonNode rule : group.path("rules")) {
        assertThat(rule.path("health").asText()).as("%s", rule).isIn("ok", "unknown");
        Matcher matcher = SELECTOR.matcher(rule.path("query").asText());
        while (matcher.find()) {
          selectors.add("last_over_time(" + matcher.group() + "[1h])");
        }
      }
    }
    assertThat(groups).hasSize(3);
    assertThat(selectors).hasSizeGreaterThan(15);
    awaitAnswers(selectors, () -> null);
  }

  @Test
  @Order(4)
  void afterCtrlCTheNextOneGoesOn() throws Exception {
    List<ProcessHandle> parts = parts();
    // As of an earlier version, and of a start that was killed before a checkpoint.
    setRemovalsOfAccepted("86400000");
    String killed = "0".repeat(32);
    Files.createDirectories(directory.resolve("my data/flink/state/SnapshotJob/" + killed));
    leaveTransaction("firstseen.firstseen.snapshots." + killed + "-0-1");
    up.interrupt();
    Invocation end = up.end();
    assertThat(end.status()).isEqualTo(130);
    assertThat(end.err()).isEmpty();
    assertThat(parts).hasSizeGreaterThanOrEqualTo(4).noneMatch(ProcessHandle::isAlive);

    leftOpen.close(Duration.ZERO);
    Path leftOver = Files.createFile(directory.resolve("my data/flink/tmp/left-over"));
    up = startUp();
    assertThat(leftOver).doesNotExist();
    for (String job : List.of("DedupJob", "SnapshotJob")) {
      String from = addresses.path("jobs").path(job).path("from").asText();
      assertThat(from).contains("/" + job + "/");
      // Flink's form of a path is no URI.
      Path checkpoint = Path.of(new org.apache.flink.core.fs.Path(from).getPath());
      await("checkpoints do not pile up").atMost(LONG).until(() -> !Files.exists(checkpoint));
    }
    assertThat(removalsOfAccepted()).isEqualTo(Duration.ofDays(36_500).toMillis() + "");
    assertThat(openTransactions()).noneMatch(id -> id.contains(killed));
    assertThat(isListed(99)).as("at once").isTrue();
    try (TopicIo topics = new TopicIo(addresses.path("kafka").asText())) {
      send(topics, events(0, 10));
      send(topics, events(5_000, 1));
      List<String> keys = new ArrayList<>();
      topics
          .readUntil(
              ACCEPTED,
              IsolationLevel.READ_COMMITTED,
              records -> records.stream().anyMatch(record -> keyOf(record).equals(key(5_000))))
          .stream()
          .filter(record -> record.value() != null)
          .forEach(record -> keys.add(keyOf(record)));
      assertThat(keys).hasSizeGreaterThan(100).doesNotHaveDuplicates();
    }
  }

  @Test
  @Order(5)
  void afterSigtermTheNextOneContinuesWithoutLoss() throws Exception {
    List<ProcessHandle> parts = parts();
    Path jar = directory.resolve("of-a-user.jar");
    try (JarOutputStream written = new JarOutputStream(Files.newOutputStream(jar))) {
      written.putNextEntry(new JarEntry("empty"));
    }
    String uploaded = new FlinkRest(address("flink")).upload(jar);
    int keys = 1_000;
    try (TopicIo topics = new TopicIo(addresses.path("kafka").asText())) {
      send(topics, events(10_000, keys));
    }
    up.terminate();
    Invocation end = up.end();
    assertThat(end.status()).isEqualTo(143);
    assertThat(end.err()).isEmpty();
    assertThat(parts).noneMatch(ProcessHandle::isAlive);

    up = startUp();
    assertThat(get(address("flink").resolve("jars")).body()).contains(uploaded);
    assertThat(isListed(99)).isTrue();
    try (TopicIo topics = new TopicIo(addresses.path("kafka").asText())) {
      send(topics, events(20_000, 1));
      List<String> accepted =
          topics
              .readUntil(
                  ACCEPTED,
                  IsolationLevel.READ_COMMITTED,
                  records -> records.stream().anyMatch(record -> keyOf(record).equals(key(20_000))))
              .stream()
              .map(UpCommandTest::keyOf)
              .filter(key -> key.matches("host-1\\d{4}\\.example/"))
              .toList();
      assertThat(accepted).hasSize(keys).doesNotHaveDuplicates();
    }
  }

  private static <T> T asAdmin(AdminCall<T> call) throws Exception {
    try (Admin admin =
        Admin.create(Map.of("bootstrap.servers", addresses.path("kafka").asText()))) {
      return call.on(admin);
    }
  }

  private interface AdminCall<T> {
    T on(Admin admin) throws Exception;
  }

  private static final ConfigResource OF_ACCEPTED =
      new ConfigResource(ConfigResource.Type.TOPIC, ACCEPTED);

  private static void setRemovalsOfAccepted(String millis) throws Exception {
    ConfigEntry entry = new ConfigEntry("delete.retention.ms", millis);
    asAdmin(
        admin ->
            admin
                .incrementalAlterConfigs(
                    Map.of(
                        OF_ACCEPTED, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
                .all()
                .get());
  }

  private static String removalsOfAccepted() throws Exception {
    return asAdmin(
        admin ->
            admin
                .describeConfigs(List.of(OF_ACCEPTED))
                .all()
                .get()
                .get(OF_ACCEPTED)
                .get("delete.retention.ms")
                .value());
  }

  private static List<String> openTransactions() throws Exception {
    return asAdmin(BrokerPreparation::openTransactions);
  }

  /** With a timeout that only the broker of this command allows. */
  private static void leaveTransaction(String id) throws Exception {
    Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                addresses.path("kafka").asText(),
                "transactional.id",
                id,
                "transaction.timeout.ms",
                "" + Duration.ofDays(24).toMillis()),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    producer.initTransactions();
    producer.beginTransaction();
    producer.send(new ProducerRecord<>("clicks", new byte[1])).get();
    assertThat(openTransactions()).contains(id);
    // Not closed, which would abort the transaction: the broker is stopped first.
    leftOpen = producer;
  }

  @Test
  @Order(6)
  void partsThatEndAreStartedAgain() throws Exception {
    AtomicInteger key = new AtomicInteger(30_000);
    for (String part :
        List.of("TaskManagerRunner", "BrokerProcess", "Entrypoint", "\0serve\0", "all")) {
      List<ProcessHandle> killed =
          parts().stream()
              .filter(process -> part.equals("all") || commandLine(process).contains(part))
              .toList();
      assertThat(killed).isNotEmpty();
      killed.forEach(ProcessHandle::destroyForcibly);
      int added = key.get();
      await("a new key is served after a kill of " + part)
          .atMost(LONG)
          .until(
              () -> {
                try (TopicIo topics = new TopicIo(addresses.path("kafka").asText())) {
                  // After a restart, a window may wait for a key of a later one.
                  send(topics, events(key.getAndIncrement(), 1));
                  return isListed(added);
                } catch (IOException e) {
                  // The service is away.
                  return false;
                }
              });
    }
    assertThat(up.errors())
        .anyMatch(
            line ->
                line.startsWith("firstseen up: taskmanager-1 has ended with status 137 (the last")
                    && line.endsWith("); next start in 1 s"))
        .anyMatch(line -> line.startsWith("firstseen up: the Kafka broker has ended with status"))
        .anyMatch(line -> line.startsWith("firstseen up: the JobManager has ended with status"))
        .anyMatch(line -> line.startsWith("firstseen up: DedupJob is not known to the JobManager"))
        .anyMatch(line -> line.startsWith("firstseen up: serve has ended with status 137"));
  }

  @Test
  @Order(7)
  void aFailureThatNoStartCorrectsEndsIt() throws Exception {
    List<ProcessHandle> parts = parts();
    try (Producer<byte[], byte[]> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", addresses.path("kafka").asText()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      // Another job claims the output.
      byte[] claim = ("f".repeat(32) + "/others").getBytes(UTF_8);
      byte[] key = (ACCEPTED + "/claim").getBytes(UTF_8);
      producer.send(new ProducerRecord<>(ACCEPTED + ".claims", 0, key, claim)).get();
    }
    Invocation end = up.end();
    assertThat(end.status()).isEqualTo(ExitCode.USAGE);
    assertThat(end.err())
        .last()
        .asString()
        .startsWith("firstseen up: DedupJob has failed: ")
        .contains("job " + "f".repeat(32) + " has taken it over");
    assertThat(parts).noneMatch(ProcessHandle::isAlive);
  }

  /** The whole command line; Linux truncates the command line of the handle after 4,096 bytes. */
  private static String commandLine(ProcessHandle process) {
    try {
      return OS.LINUX.isCurrentOs()
          ? Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
          : process.info().commandLine().orElse("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<ProcessHandle> parts() {
    return up.descendants();
  }

  /** A dedup of the same events, with separate output topics. */
  private static FlinkRest.Job job(String name, String... options) throws Exception {
    List<String> words = new ArrayList<>();
    words.add("--bootstrap-servers=" + addresses.path("kafka").asText());
    words.addAll(OF_EVENTS);
    words.addAll(List.of(options));
    words.add("--transactional-id-prefix=" + name);
    for (String topic : List.of("accepted", "duplicates", "dead-letters")) {
      words.add("--" + topic + "-topic=" + name + "." + topic);
    }
    return new FlinkRest.Job(
        JobJar.find(), "io.firstseen.jobs.DedupJob", words, Map.of(), Optional.empty());
  }

  /** A program that reports by Micrometer, and that Prometheus is told of. */
  private static HttpServer program(SnapshotClient client) throws Exception {
    client.awaitReady(LONG);
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    SnapshotClientMetrics.of(client).bindTo(registry);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/metrics",
        exchange -> {
          byte[] text = registry.scrape().getBytes(UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "text/plain; version=0.0.4");
          exchange.sendResponseHeaders(200, text.length);
          exchange.getResponseBody().write(text);
          exchange.close();
        });
    server.start();
    Path targets = directory.resolve("my data/prometheus/targets");
    Path written = directory.resolve("program.json");
    Files.writeString(
        written, "[{\"targets\":[\"127.0.0.1:%d\"]}]".formatted(server.getAddress().getPort()));
    Files.move(written, targets.resolve("program.json"));
    return server;
  }

  /** Waits until Prometheus has a number for each query, in rounds of something that is done. */
  private static void awaitAnswers(Collection<String> queries, Callable<?> round) throws Exception {
    List<String> unanswered = new ArrayList<>(queries);
    long deadlineNanos = System.nanoTime() + LONG.toNanos();
    while (!unanswered.isEmpty()) {
      assertThat(System.nanoTime()).as("without data: %s", unanswered).isLessThan(deadlineNanos);
      round.call();
      List<String> answered = new ArrayList<>();
      for (String query : unanswered) {
        if (hasNumber(query)) {
          answered.add(query);
        }
      }
      unanswered.removeAll(answered);
    }
  }

  private static boolean hasNumber(String query) throws Exception {
    JsonNode answer = prometheus("query?query=" + URLEncoder.encode(query, UTF_8));
    assertThat(answer.path("status").asText()).as("%s: %s", query, answer).isEqualTo("success");
    // The events are too few for an audit of texts, so these quotients are 0 / 0.
    boolean mayBeZero =
        query.contains("auditedNearDuplicates") || query.contains("auditedDuplicates");
    for (JsonNode series : answer.path("data").path("result")) {
      if (mayBeZero || !series.path("value").path(1).asText().equals("NaN")) {
        return true;
      }
    }
    return false;
  }

  private static JsonNode prometheus(String path) throws Exception {
    return JSON.readTree(get(address("prometheus").resolve("api/v1/" + path)).body());
  }

  private static void requirePrometheus() {
    assumeTrue(
        !addresses.path("prometheus").isNull(), "no prometheus on the PATH: nothing is scraped");
  }

  private static URI address(String part) {
    return URI.create(addresses.path(part).asText());
  }

  private static HttpResponse<String> get(URI address) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
  }

  private static boolean isListed(int key) throws Exception {
    HttpResponse<String> answer =
        get(address("service").resolve("v1/match?url=https://www." + key(key) + "x"));
    return answer.statusCode() == 200 && answer.body().contains("\"present\":true");
  }

  private static String key(int number) {
    return "host-" + number + ".example/";
  }

  private static List<String> events(int first, int count) {
    return Stream.iterate(first, number -> number + 1)
        .limit(count)
        .map(number -> event("seen", number))
        .toList();
  }

  private static String event(String action, int number) {
    return "{\"at\":%d,\"action\":\"%s\",\"link\":\"%s\"}"
        .formatted(START_MILLIS + 1_000L * sent++, action, key(number));
  }

  private static void send(TopicIo topics, List<String> events) throws Exception {
    topics.send(addresses.path("eventsTopic").asText(), 1, events);
  }

  private static String keyOf(ConsumerRecord<byte[], byte[]> record) {
    return new String(record.key(), UTF_8);
  }

  private static List<?> accepted(TopicIo topics, int count) throws Exception {
    return topics.readUntil(
        ACCEPTED, IsolationLevel.READ_COMMITTED, records -> records.size() >= count);
  }
}
