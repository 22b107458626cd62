package io.firstseen.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.fixtures.SnapshotWriter;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.kafka.Preflight;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DoctorCommandTest {
  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();

  private final String name = SharedBroker.unused("doctor");

  private List<String> topics(String servers) {
    return List.of(
        "--bootstrap-servers=" + servers,
        "--events-topic=" + name + ".events",
        "--accepted-topic=" + name + ".accepted",
        "--duplicates-topic=" + name + ".duplicates",
        "--dead-letters-topic=" + name + ".dead-letters",
        "--snapshots-topic=" + name + ".snapshots");
  }

  private Invocation doctor(String... more) {
    List<String> words = new ArrayList<>(List.of("doctor"));
    words.addAll(topics(KAFKA.servers()));
    words.addAll(List.of(more));
    return Invocation.of(words.toArray(String[]::new));
  }

  /** Requires that nothing but this check failed, and gives what it says. */
  private static String onlyFailed(Invocation answer, String check) {
    assertThat(answer.status()).as("%s", answer).isEqualTo(ExitCode.NEGATIVE);
    assertThat(answer.err()).isEmpty();
    List<String> failed = answer.out().stream().filter(line -> line.startsWith("failed")).toList();
    assertThat(failed).hasSize(1);
    assertThat(failed.get(0)).startsWith("failed   " + check + ": ");
    return failed.get(0).substring(("failed   " + check + ": ").length());
  }

  private static String line(Invocation answer, String check) {
    return answer.out().stream()
        .filter(each -> each.contains(" " + check + ": "))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + check + " in " + answer));
  }

  private void makeTopics() {
    KAFKA.create(name + ".events", "delete");
    Preflight.require(
        new JobNeeds(
            Job.PIPELINE,
            KafkaOptions.parse(topics(KAFKA.servers()).toArray(String[]::new)),
            JobOptions.parse()),
        Optional.empty());
  }

  @Test
  void theMachineIsCheckedWithoutBrokers() {
    Invocation answer = Invocation.of("doctor");
    assertThat(answer.status()).as("%s", answer).isEqualTo(ExitCode.GOOD);
    assertThat(answer.err()).isEmpty();
    assertThat(answer.out()).hasSize(5).allMatch(line -> line.matches("(ok|warning)\\s+\\S.*: .*"));
    assertThat(line(answer, "Java")).startsWith("ok ").contains(Runtime.version().toString());
  }

  @Test
  void whatAJobFindsGoodIsOk() throws Exception {
    makeTopics();
    Invocation answer = doctor();
    assertThat(answer.status()).as("%s", answer).isEqualTo(ExitCode.GOOD);
    assertThat(line(answer, "brokers"))
        .matches("ok +brokers: 1 broker at " + KAFKA.servers() + ", version \\d+\\.\\d+\\S*");
    assertThat(line(answer, "transaction timeout"))
        .endsWith("--transaction-timeout is 15m, the brokers allow 15m");
    assertThat(line(answer, "topic " + name + ".accepted"))
        .endsWith("1 partition, 1 replica, min.insync.replicas=1, cleanup.policy=compact");
    assertThat(line(answer, "topic " + name + ".snapshots")).contains("2 partitions");
    assertThat(line(answer, "set firstseen"))
        .endsWith("nothing is published on topic " + name + ".snapshots yet");
    for (String job : List.of("dedup", "snapshots", "none")) {
      assertThat(doctor("--job=" + job).status()).as(job).isEqualTo(ExitCode.GOOD);
    }
    JsonNode json = doctor("--json").json();
    assertThat(json.get("ok").asBoolean()).isTrue();
    assertThat(json.get("checks")).hasSize(answer.out().size());
    assertThat(json.get("checks").get(0).get("check").asText()).isEqualTo("Java");
    assertThat(json.get("checks").get(0).get("status").asText()).isEqualTo("ok");
  }

  /** As they stand behind the jar of the job, also with values as words of their own. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "dedup|--hash-key-file public --checkpoint-dir file:///tmp/c --checkpoint-interval 3s "
            + "--fpr 0.01 --ttl 7d --mode exact --canonicaliser url --key-field /url "
            + "--operation-field /op --delete-values del --idle-timeout 5s --scope-from-topic",
        "snapshots|--hash-key-file public --window 10m --set spam --snapshot-fpr 0.001 "
            + "--max-ahead 2d --parallelism 1 --take-over",
        "pipeline|--hash-key-file public --checkpoint-interval 3s --capacity 1000 --set spam "
            + "--window 10m --idle-timeout 5s --start latest",
      })
  void allOptionsOfTheJobAreTaken(String job, String options) {
    makeTopics();
    List<String> words = new ArrayList<>(List.of("--job", job));
    words.addAll(List.of(options.split(" ", -1)));
    Invocation answer = doctor(words.toArray(String[]::new));
    assertThat(answer.status()).as("%s", answer).isEqualTo(ExitCode.GOOD);
    if (!job.equals("dedup")) {
      assertThat(line(answer, "set spam")).contains("nothing is published");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pipeline|--window=soon|Invalid value for option '--window'",
        "pipeline|--windw=1h|Unknown option: '--windw=1h'; did you mean --window?",
        "dedup|--window=1h|Unknown option: '--window=1h'",
        "snapshots|--mode=exact|Unknown option: '--mode=exact'",
        "dedup|--fpr=0.5|fpr",
        "dedup|--hash-key-file=no-such-file|no-such-file",
        "dedup|--checkpoint-interval=20m|--transaction-timeout must be longer than "
            + "--checkpoint-interval",
        "pipeline|--ttl=7d --ttl-clock=processing|--ttl-clock processing needs a job without "
            + "snapshots",
        "pipeline|--output=record|--output",
        "none|--window=1h|Unknown option: '--window=1h'",
      })
  void optionsThatTheJobRejectsAreRejected(String job, String options, String reason) {
    List<String> words = new ArrayList<>(List.of("--job=" + job));
    words.addAll(List.of(options.split(" ", -1)));
    doctor(words.toArray(String[]::new)).assertRefused(reason);
  }

  @Test
  void topicsOfEventsMayBeGivenOneByOne() {
    makeTopics();
    KAFKA.create(name + ".more", "delete");
    Invocation answer = doctor("--job=dedup", "--events-topic=" + name + ".more");
    assertThat(line(answer, "topic " + name + ".events")).startsWith("ok");
    assertThat(line(answer, "topic " + name + ".more")).startsWith("ok");
  }

  @Test
  void manifestsOfTheSigningKeyAreTrusted(@TempDir Path directory) throws Exception {
    SigningKey key = SigningKey.generate();
    Path file = directory.resolve("key.pem");
    Files.writeString(file, key.toPem());
    makeTopics();
    SetPublisher publisher =
        new SetPublisher(
            SnapshotWriter.SET,
            SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001));
    String[] words = {
      "--job=snapshots",
      "--set=" + SnapshotWriter.SET,
      "--hash-key-file=public",
      "--signing-key=" + file
    };
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), name + ".snapshots")) {
      writer.publishAsManifest(key.sign(publisher.publish(6, 0, 1).manifest()).toBytes());
      assertThat(line(doctor(words), "set " + SnapshotWriter.SET)).contains("sequence 6");
      Manifest other = publisher.publish(7, 1, 2).manifest();
      writer.publishAsManifest(SigningKey.generate().sign(other).toBytes());
      assertThat(line(doctor(words), "set " + SnapshotWriter.SET)).contains("sequence 6");
    }
  }

  @Test
  void aTopicThatWouldLoseKeysFails() throws Exception {
    KAFKA.create(name + ".accepted", "delete");
    KAFKA.create(name + ".events", "delete");
    String check = "topic " + name + ".accepted";
    assertThat(onlyFailed(doctor(), check))
        .startsWith(
            "topic %s.accepted must have cleanup.policy=compact, but has delete: set it with"
                .formatted(name));
    onlyFailed(doctor("--job=snapshots"), check);
    assertThat(doctor("--job=none").status()).isEqualTo(ExitCode.GOOD);
    Invocation json = doctor("--json");
    assertThat(json.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(new ObjectMapper().readTree(json.out().get(0)).get("ok").asBoolean()).isFalse();
  }

  @Test
  void aTopicThatDeletesByAgeIsForJobsWithTtl() throws Exception {
    NewTopic accepted = new NewTopic(name + ".accepted", 1, (short) 1);
    KAFKA
        .broker()
        .createTopics(
            List.of(
                accepted.configs(
                    Map.of(
                        "cleanup.policy",
                        "compact,delete",
                        "delete.retention.ms",
                        "86400000",
                        "retention.ms",
                        Long.toString(Duration.ofDays(3).toMillis())))));
    assertThat(onlyFailed(doctor("--job=snapshots"), "topic " + name + ".accepted"))
        .contains("must have cleanup.policy=compact, but has compact,delete");
    assertThat(line(doctor("--job=snapshots", "--ttl=1d"), "topic " + name + ".accepted"))
        .startsWith("ok");
    assertThat(onlyFailed(doctor("--job=snapshots", "--ttl=7d"), "topic " + name + ".accepted"))
        .contains(
            "must have retention.ms=", ", the sum of --ttl, an eighth of it, and --max-downtime, ");
  }

  @Test
  void whatIsMissingIsNamedAndNotMade() throws Exception {
    assertThat(onlyFailed(doctor(), "topic " + name + ".events"))
        .isEqualTo(
            "topic %s.events of events does not exist at %s: create it with kafka-topics.sh --bootstrap-server %2$s --create --topic %1$s.events, or set --events-topic to an existing topic"
                .formatted(name, KAFKA.servers()));
    Invocation reader = doctor("--job=none");
    assertThat(reader.status()).isEqualTo(ExitCode.GOOD);
    assertThat(line(reader, "topic " + name + ".snapshots"))
        .startsWith("warning")
        .contains("the topic does not exist at " + KAFKA.servers());
    assertThat(line(doctor("--job=snapshots"), "topic " + name + ".accepted"))
        .startsWith("ok")
        .endsWith("does not exist yet; the job creates it if its user may");
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.servers()))) {
      assertThat(admin.listTopics().names().get()).noneMatch(topic -> topic.startsWith(name + "."));
    }
  }

  @Test
  void topicsOfEventsMayBeAPattern() {
    KAFKA.create(name + ".events.a", "delete");
    KAFKA.create(name + ".events.b", "delete");
    String[] words = {
      "doctor",
      "--bootstrap-servers=" + KAFKA.servers(),
      "--events-topic-pattern=" + name + "\\.events\\..",
      "--accepted-topic=" + name + ".accepted"
    };
    assertThat(line(Invocation.of(words), "topics of events"))
        .isEqualTo("ok       topics of events: %s.events.a, %s.events.b".formatted(name, name));
    words[2] = "--events-topic-pattern=" + name + "\\.none";
    assertThat(onlyFailed(Invocation.of(words), "topics of events"))
        .startsWith("no topic of events at " + KAFKA.servers() + " matches");
  }

  @Test
  void settingsOfTheJobAreHeldAgainstTheBrokers() {
    makeTopics();
    assertThat(onlyFailed(doctor("--transaction-timeout=2h"), "transaction timeout"))
        .startsWith("--transaction-timeout must be at most 15m, the limit of the brokers at ")
        .endsWith(", got 2h");
    assertThat(
            onlyFailed(
                doctor("--job=snapshots", "--max-downtime=30d"), "topic " + name + ".accepted"))
        .contains(
            "must have delete.retention.ms=2592000000 to keep tombstones for --max-downtime, ");
    Invocation replicas = doctor("--topic-replication-factor=2");
    assertThat(replicas.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(line(replicas, "topic " + name + ".accepted"))
        .startsWith("failed")
        .contains("must have 2 replicas (--topic-replication-factor), but has 1");
  }

  @Test
  void theNewestManifestIsLookedAt() throws Exception {
    String topic = name + ".snapshots";
    SnapshotWriter.createTopic(KAFKA.broker(), topic);
    String[] reader = {"--job=none", "--set=" + SnapshotWriter.SET};
    String check = "set " + SnapshotWriter.SET;
    assertThat(line(doctor(reader), check))
        .startsWith("warning")
        .contains("nothing is published on topic " + topic);
    long now = System.currentTimeMillis();
    Manifest manifest =
        new SetPublisher(
                SnapshotWriter.SET,
                SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001))
            .publish(6, 0, 1)
            .manifest();
    try (SnapshotWriter writer = new SnapshotWriter(KAFKA.broker(), topic)) {
      writer.publishAsManifest(manifest.withTimes(now - 7_200_000, null).toBytes());
      assertThat(line(doctor(reader), check))
          .startsWith("ok")
          .contains("sequence 6, 0 keys, published at ")
          .endsWith(", 2h ago");
      writer.publishAsManifest(manifest.withTimes(now - 7_200_000, now - 1).toBytes());
      assertThat(line(doctor(reader), check))
          .startsWith("warning")
          .contains(", 2h ago, expired at ")
          .endsWith(": check whether its publisher is running");
      writer.publishAsManifest(manifest.withTimes(now + 7_300_000, null).toBytes());
      assertThat(line(doctor(reader), check))
          .startsWith("warning")
          .contains(", which is 2h ahead of this machine's clock: ");
    }
  }

  @Test
  void wrongOptionsAreRefusedBeforeAnythingIsPrinted() {
    Invocation.of("doctor", "--job=none").assertRefused("--bootstrap-servers");
    Invocation.of("doctor", "--jsn").assertRefused("did you mean --json?");
    doctor("--transaction-timeout=long")
        .assertRefused("Invalid value for option '--transaction-timeout': must be");
    doctor("--accepted-topic2=x").assertRefused("did you mean --accepted-topic?");
    doctor("--records-topic=" + name + ".events", "--output=both")
        .assertRefused("--events-topic and --records-topic must be different topics");
    doctor("--kafka-properties=no-such-file").assertRefused("no-such-file");
  }

  @Test
  void aHostThatDoesNotExistFailsAtOnce() {
    String servers = "--bootstrap-servers=no.such.host.invalid:9092";
    assertThat(onlyFailed(Invocation.of("doctor", servers, "--take-over"), "brokers"))
        .startsWith("cannot connect to Kafka at no.such.host.invalid:9092: ");
  }

  /** It waits as long as it says. */
  @Tag("slow")
  @Test
  void brokersThatDoNotAnswerFailWithinHalfAMinute() throws Exception {
    String servers = "localhost:" + SharedBroker.freePort();
    long before = System.nanoTime();
    Invocation answer = Invocation.of("doctor", "--bootstrap-servers=" + servers);
    assertThat(onlyFailed(answer, "brokers"))
        .isEqualTo("no Kafka broker responds at %s (waited 12s)".formatted(servers));
    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(30));
  }
}
