package io.firstseen.cli.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.EventStream;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.PipelineJob;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.kafka.Preflight;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.operators.UserErrorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Jobs and commands over SASL_SSL, with the rights that the documentation lists. */
class SecuredBrokerTest {
  private static final String EVENTS = "firstseen.events";
  private static final String ACCEPTED = "firstseen.accepted";
  private static final String CLAIMS = "firstseen.accepted.claims";
  private static final String SNAPSHOTS = "firstseen.snapshots";
  private static final List<String> MADE =
      List.of(ACCEPTED, "firstseen.duplicates", "firstseen.dead-letters", CLAIMS, SNAPSHOTS);
  private static final String WRONG_PASSWORD =
      "Authentication failed during authentication due to invalid credentials with SASL mechanism"
          + " SCRAM-SHA-512";
  private static final EventStream STREAM = new EventStream(17, 200);

  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(4);

  @TempDir private static Path directory;
  private static SecuredBroker kafka;
  private static Path dedupFile;
  private static Path readerFile;
  private static final Map<String, Path> files = new HashMap<>();
  private static List<AclBinding> documented;
  private static EventStream.Model model;

  @TempDir private Path output;

  @BeforeAll
  static void start() throws Exception {
    documented = documentedRights();
    kafka = new SecuredBroker(directory);
    kafka.addUser("dedup", "of-dedup");
    kafka.addUser("reader", "of-reader");
    for (String user : List.of("dedup-job", "snapshot-job", "bootstrap")) {
      kafka.addUser(user, "of-" + user);
      files.put(user, kafka.clientProperties(user, "of-" + user));
    }
    dedupFile = kafka.clientProperties("dedup", "of-dedup");
    readerFile = kafka.clientProperties("reader", "of-reader");
    kafka.broker().createTopics(List.of(new NewTopic(EVENTS, 1, (short) 1)));
    List<String> events = STREAM.next(1_000);
    model = new EventStream.Model().apply(events);
    try (TopicIo topics = new TopicIo(kafka.openServers())) {
      topics.send(EVENTS, 1, events);
    }
  }

  @AfterAll
  static void stop() {
    kafka.close();
  }

  @BeforeEach
  void nothingIsMadeAndTheDocumentedRightsAreGiven() throws Exception {
    kafka.deleteTopics(MADE);
    kafka.allowOnly(documented);
  }

  /** The options of kafka-acls.sh in the documentation. */
  private static final class Allow {
    @Parameters(index = "0")
    private String principal;

    @Option(names = "--operation")
    private List<String> operations;

    @Option(names = "--topic")
    private String topic;

    @Option(names = "--group")
    private String group;

    @Option(names = "--transactional-id")
    private String transactionalId;

    @Option(names = "--resource-pattern-type", defaultValue = "literal")
    private String patternType;

    private ResourcePattern resource() {
      PatternType pattern = PatternType.fromString(patternType.toUpperCase(Locale.ROOT));
      if (topic != null) {
        return new ResourcePattern(ResourceType.TOPIC, topic, pattern);
      }
      return group == null
          ? new ResourcePattern(ResourceType.TRANSACTIONAL_ID, transactionalId, pattern)
          : new ResourcePattern(ResourceType.GROUP, group, pattern);
    }

    private List<AclBinding> rights() {
      return operations.stream().map(name -> right(principal, name, resource())).toList();
    }
  }

  private static AclBinding right(String principal, String operation, ResourcePattern resource) {
    return new AclBinding(
        resource,
        new AccessControlEntry(
            principal, "*", AclOperation.fromString(operation), AclPermissionType.ALLOW));
  }

  /** Those of a pipeline and of those who read its sets. */
  private static List<AclBinding> documentedRights() throws Exception {
    List<AclBinding> rights = rightsOf("dedup");
    rights.addAll(rightsOf("reader"));
    return rights;
  }

  private static List<AclBinding> rightsOf(String user) throws Exception {
    Path page = Path.of("..", "docs", "operations", "security.md");
    List<AclBinding> rights = new ArrayList<>();
    for (String line : Files.readAllLines(page)) {
      if (line.startsWith("allow User:" + user + " ")) {
        Allow allow = new Allow();
        new CommandLine(allow).parseArgs(line.substring("allow ".length()).split(" "));
        rights.addAll(allow.rights());
      }
    }
    return rights;
  }

  private static List<AclBinding> without(AclBinding right) {
    return documented.stream().filter(each -> !each.equals(right)).toList();
  }

  private static KafkaOptions options(Path properties, String... more) {
    return KafkaOptions.parse(
        words(
            List.of(
                "--bootstrap-servers=" + kafka.servers(),
                "--kafka-properties=" + properties,
                "--checkpoint-interval=10m"),
            more));
  }

  private static String[] words(List<String> first, String... more) {
    return Stream.concat(first.stream(), Stream.of(more)).toArray(String[]::new);
  }

  private static Invocation consumer(String verb, Path properties, String... more) {
    return Invocation.of(
        words(
            List.of(
                "snapshot",
                verb,
                "--bootstrap-servers=" + kafka.servers(),
                "--kafka-properties=" + properties),
            more));
  }

  private static void finish(StreamExecutionEnvironment env) throws Exception {
    env.configure(new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none"));
    env.execute();
  }

  @Tag("slow")
  @Test
  void jobsAndConsumersNeedNoMoreThanTheDocumentedRights() throws Exception {
    EmbeddedCluster cluster = FLINK.cluster();
    try (TopicIo open = new TopicIo(kafka.openServers())) {
      JobOptions job = JobOptions.parse("--fpr=0.0000001", "--window=10m");
      StreamExecutionEnvironment env = cluster.environment();
      JobMain.buildOnKafka(env, Job.PIPELINE, options(dedupFile, "--start=committed"), job);
      JobClient pipeline = env.executeAsync();
      // The source commits offsets without waiting for the broker; at the job's end they may be
      // lost.
      await("the offsets are committed")
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                cluster.triggerCheckpoint(pipeline);
                return committed("firstseen." + ACCEPTED, EVENTS).equals(open.ends(EVENTS));
              });
      cluster.stopWithSavepoint(pipeline, SavepointFormatType.CANONICAL, true);
      assertThat(open.readCommitted(ACCEPTED)).hasSize(model.accepted);
      assertThat(open.readCommitted("firstseen.duplicates")).hasSize(model.repeats);
      assertThat(open.readCommitted("firstseen.dead-letters")).hasSize(model.deadLetters);

      Path pulled = output.resolve("pulled");
      Invocation pull = consumer("pull", readerFile, "--output=" + pulled);
      assertThat(pull.err()).isEmpty();
      assertThat(pull.out().get(0)).contains(": " + model.live.size() + " keys");
      String live = model.live.iterator().next();
      assertThat(Invocation.of("snapshot", "query", pulled.toString(), live).out())
          .containsExactly(live + "\tpresent");
      Invocation follow = consumer("follow", readerFile, "--count=1");
      assertThat(follow.err()).isEmpty();
      assertThat(follow.out()).singleElement().asString().contains(model.live.size() + " keys");

      // A separate snapshot job needs an additional ACL, as documented.
      List<AclBinding> rights = new ArrayList<>(documented);
      rights.add(readAccepted("User:dedup"));
      kafka.allowOnly(rights);
      StreamExecutionEnvironment snapshots = cluster.environment();
      JobMain.buildOnKafka(
          snapshots,
          Job.SNAPSHOTS,
          options(dedupFile, "--start=committed").stopAt(open.ends(ACCEPTED)),
          JobOptions.parse("--set=alone", "--window=10m"));
      finish(snapshots);
      Invocation info = consumer("info", readerFile, "--set=alone", "--json");
      assertThat(info.out().get(0)).contains("\"keys\":" + model.live.size());

      // The job may not read the broker's limit, so the broker rejects larger values.
      StreamExecutionEnvironment tooLong = cluster.environment();
      JobMain.buildOnKafka(
          tooLong,
          Job.SNAPSHOTS,
          options(dedupFile, "--start=committed", "--transaction-timeout=61m")
              .stopAt(open.ends(ACCEPTED)),
          JobOptions.parse("--set=other", "--window=10m"));
      assertThatThrownBy(() -> finish(tooLong))
          .hasStackTraceContaining(
              UserErrorException.class.getName()
                  + ": --transaction-timeout exceeds the limit of the brokers");
    }
  }

  private static AclBinding readAccepted(String principal) {
    return right(
        principal, "Read", new ResourcePattern(ResourceType.TOPIC, ACCEPTED, PatternType.LITERAL));
  }

  private static Map<TopicPartition, Long> committed(String group, String topic) throws Exception {
    TopicPartition partition = new TopicPartition(topic, 0);
    OffsetAndMetadata offset =
        kafka
            .admin()
            .listConsumerGroupOffsets(group)
            .partitionsToOffsetAndMetadata()
            .get()
            .get(partition);
    return offset == null ? Map.of() : Map.of(partition, offset.offset());
  }

  @Test
  void aJobWithoutOneOfTheDocumentedRightsSaysWhich() throws Exception {
    List<AclBinding> ofJob =
        documented.stream().filter(each -> each.entry().principal().equals("User:dedup")).toList();
    assertThat(ofJob).hasSize(11);
    // In the quick tier one right of each kind.
    boolean all = Integer.getInteger("firstseen.scale", 1) > 1;
    Set<ResourceType> seen = EnumSet.noneOf(ResourceType.class);
    for (AclBinding right : ofJob) {
      if (!seen.add(right.pattern().resourceType()) && !all) {
        continue;
      }
      kafka.deleteTopics(MADE);
      kafka.allowOnly(without(right));
      assertThatThrownBy(() -> require(Job.PIPELINE, options(dedupFile)))
          .as(right.toString())
          .isInstanceOf(UserErrorException.class)
          .hasMessageContaining(refusal(right));
    }
  }

  private static String refusal(AclBinding right) {
    String name = right.pattern().name();
    String at = " at " + kafka.servers();
    String operation = right.entry().operation() == AclOperation.READ ? "Read" : "Write";
    return switch (right.pattern().resourceType()) {
      case GROUP ->
          "the job's user may not read in consumer group firstseen.firstseen.accepted"
              + at
              + ": allow it with kafka-acls.sh --operation Read --group "
              + "firstseen.firstseen.accepted";
      case TRANSACTIONAL_ID ->
          "the job's user may not write with transactional ids that start with "
              + "firstseen.firstseen.accepted."
              + at
              + ": allow it with kafka-acls.sh --operation Write --transactional-id"
              + " firstseen.firstseen.accepted. --resource-pattern-type prefixed";
      default ->
          right.entry().operation() == AclOperation.CREATE
              ? "topic firstseen.accepted does not exist"
                  + at
                  + ", and the job's user may not create it: create it with cleanup.policy=compact"
              : "the job's user may not %s topic %s%s: allow it with kafka-acls.sh --operation %s --topic %s"
                  .formatted(operation.toLowerCase(Locale.ROOT), name, at, operation, name);
    };
  }

  @Test
  void aSnapshotJobThatMayNotReadTheAcceptedTopicSaysSo() {
    assertThatThrownBy(() -> require(Job.SNAPSHOTS, options(dedupFile)))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("may not read topic firstseen.accepted");
  }

  @Test
  void theDoctorNamesEveryRightThatIsMissing() throws Exception {
    require(Job.PIPELINE, options(dedupFile));
    Invocation allowed = doctor();
    assertThat(allowed.status()).as("%s", allowed).isEqualTo(ExitCode.GOOD);
    assertThat(allowed.out())
        .anyMatch(line -> line.startsWith("warning") && line.contains("allow it DescribeConfigs"));
    kafka.allowOnly(
        documented.stream()
            .filter(right -> right.entry().operation() != AclOperation.WRITE)
            .toList());
    Invocation refused = doctor();
    assertThat(refused.status()).isEqualTo(ExitCode.NEGATIVE);
    assertThat(refused.out())
        .filteredOn(line -> line.startsWith("failed"))
        .extracting(line -> line.replaceFirst("failed +(.*?): .*", "$1"))
        .containsExactlyInAnyOrder(
            "ACLs for " + ACCEPTED,
            "ACLs for " + SNAPSHOTS,
            "topic " + ACCEPTED,
            "topic firstseen.duplicates",
            "topic firstseen.dead-letters",
            "topic " + CLAIMS,
            "topic " + SNAPSHOTS);
  }

  private static void require(Job job, KafkaOptions kafka) {
    Preflight.require(new JobNeeds(job, kafka, JobOptions.parse()), Optional.empty());
  }

  private static Invocation doctor() {
    return Invocation.of(
        "doctor", "--bootstrap-servers=" + kafka.servers(), "--kafka-properties=" + dedupFile);
  }

  @Test
  void aRightThatIsNotThereToCheckTheReplicasIsNamed() {
    assertThatThrownBy(
            () ->
                require(
                    Job.PIPELINE,
                    options(
                        dedupFile,
                        "--topic-replication-factor=1",
                        "--topic-min-insync-replicas=1")))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("--operation DescribeConfigs --topic firstseen.accepted");
  }

  /**
   * Nothing is known of the topic of events, so nothing may be deleted. Group and ids are named
   * after the records topic.
   */
  @Test
  void aJobThatPassesRecordsOnNeedsNoMoreRightsAndMakesATopicThatKeepsThem() throws Exception {
    String records = "firstseen.records";
    List<AclBinding> rights = new ArrayList<>(documented);
    rights.removeIf(
        each ->
            each.pattern().resourceType() == ResourceType.GROUP
                || each.pattern().resourceType() == ResourceType.TRANSACTIONAL_ID);
    rights.add(
        right(
            "User:dedup",
            "Write",
            new ResourcePattern(ResourceType.TOPIC, records, PatternType.LITERAL)));
    for (String operation : List.of("Read", "Write")) {
      rights.add(
          right(
              "User:dedup",
              operation,
              new ResourcePattern(ResourceType.TOPIC, records + ".claims", PatternType.LITERAL)));
    }
    rights.add(
        right(
            "User:dedup",
            "Read",
            new ResourcePattern(ResourceType.GROUP, "firstseen." + records, PatternType.LITERAL)));
    rights.add(
        right(
            "User:dedup",
            "Write",
            new ResourcePattern(
                ResourceType.TRANSACTIONAL_ID,
                "firstseen." + records + ".",
                PatternType.PREFIXED)));
    kafka.allowOnly(rights);
    require(Job.DEDUP, options(dedupFile, "--output=record"));
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, records);
    assertThat(
            kafka
                .admin()
                .describeConfigs(List.of(resource))
                .all()
                .get()
                .get(resource)
                .get("retention.ms")
                .value())
        .isEqualTo("-1");
    kafka.deleteTopics(List.of(records, records + ".claims"));
  }

  @Tag("slow")
  @Test
  void consumersWithoutTheirRightSayWhichTopic() throws Exception {
    kafka.broker().createTopics(List.of(new NewTopic(SNAPSHOTS, 1, (short) 1)));
    kafka.broker().createTopics(List.of(new NewTopic(ACCEPTED, 1, (short) 1)));
    kafka.allowOnly(
        documented.stream()
            .filter(each -> !each.entry().principal().equals("User:reader"))
            .toList());
    pullRefuses(readerFile, "Not authorized to access topics: [firstseen.snapshots]");
    refused(
        Invocation.of(
            "bootstrap",
            "--from-topic=" + ACCEPTED,
            "--bootstrap-servers=" + kafka.servers(),
            "--kafka-properties=" + readerFile,
            "--savepoint=" + output.resolve("savepoint")),
        "firstseen bootstrap: cannot read topic firstseen.accepted at %s: Not authorized to access"
            + " topics: [firstseen.accepted]");
  }

  /** In a process, whose standard error also has what Kafka logs as an error. */
  private void pullRefuses(Path properties, String reason) throws Exception {
    try (CommandProcess pull =
        CommandProcess.start(
            output,
            "snapshot",
            "pull",
            "--bootstrap-servers=" + kafka.servers(),
            "--kafka-properties=" + properties,
            "--output=" + output.resolve("pulled"))) {
      refused(
          pull.end(),
          "firstseen snapshot pull: cannot read topic 'firstseen.snapshots' of %s: " + reason);
    }
  }

  private static void refused(Invocation invocation, String sentence) {
    assertThat(invocation)
        .isEqualTo(
            new Invocation(
                ExitCode.USAGE, List.of(), List.of(sentence.formatted(kafka.servers()))));
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"dedup-job", "snapshot-job"})
  void aJobOfItsOwnUserNeedsEachOfItsRights(String user) throws Exception {
    require(Job.PIPELINE, options(dedupFile));
    KafkaOptions options = options(files.get(user));
    List<AclBinding> rights = rightsOf(user);
    assertThat(rights).hasSize(user.equals("dedup-job") ? 8 : 6);
    // In the quick tier the last of each kind.
    boolean all = Integer.getInteger("firstseen.scale", 1) > 1;
    Map<ResourceType, AclBinding> ofKinds = new EnumMap<>(ResourceType.class);
    rights.forEach(right -> ofKinds.put(right.pattern().resourceType(), right));
    for (AclBinding right : all ? rights : ofKinds.values()) {
      kafka.allowOnly(rights.stream().filter(each -> !each.equals(right)).toList());
      String kind = right.pattern().resourceType().name().toLowerCase(Locale.ROOT);
      assertThatThrownBy(() -> prepare(user, options))
          .as(right.toString())
          .isInstanceOf(UserErrorException.class)
          .hasMessageStartingWith("the job's user may not ")
          .hasMessageContaining(
              "allow it with kafka-acls.sh --operation %s --%s %s"
                  .formatted(
                      right.entry().operation() == AclOperation.READ ? "Read" : "Write",
                      kind.replace('_', '-'),
                      right.pattern().name()));
    }
    kafka.allowOnly(rights);
    prepare(user, options);
  }

  private static void prepare(String user, KafkaOptions options) {
    if (user.equals("dedup-job")) {
      require(Job.DEDUP, options);
    } else {
      require(Job.SNAPSHOTS, options);
    }
  }

  @Tag("slow")
  @Test
  void aWrongPasswordIsOneSentenceOfAProcess() throws Exception {
    pullRefuses(kafka.clientProperties("dedup", "guessed"), WRONG_PASSWORD);
  }

  @Test
  void aWrongPasswordIsOneSentenceAndStatus2() throws Exception {
    Path wrong = kafka.clientProperties("dedup", "guessed");
    refused(
        consumer("pull", wrong, "--output=" + output.resolve("pulled")),
        "firstseen snapshot pull: cannot read topic 'firstseen.snapshots' of %s: "
            + WRONG_PASSWORD);
    // In a separate JVM, it prints this error and exits with status 2, see JobMainTest.
    assertThatThrownBy(
            () ->
                PipelineJob.main(
                    new String[] {
                      "--bootstrap-servers=" + kafka.servers(), "--kafka-properties=" + wrong
                    }))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(kafka.servers(), WRONG_PASSWORD);
  }
}
