package io.firstseen.jobs.kafka;

import static io.firstseen.jobs.kafka.TestJobs.cancel;
import static io.firstseen.jobs.kafka.TestJobs.failure;
import static io.firstseen.jobs.kafka.TestJobs.fromSavepoint;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.shared.Finding;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Topics that somebody changes while a job is stopped, or under a running one. */
class ChangedTopicsTest {
  private static final String ID = "[A-Za-z0-9_-]{22}";

  @RegisterExtension private static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  private final String name = SharedBroker.unused("changed");
  private final String events = name + ".events";
  private final String accepted = name + ".accepted";
  private String acceptedOption = accepted;
  private TopicIo topics;
  private Admin admin;

  @BeforeAll
  static void shortenTheWaitForMissingTopics() {
    Brokers.propagationTime = Duration.ofMillis(500);
  }

  @AfterAll
  static void restoreTheWait() {
    Brokers.propagationTime = Duration.ofSeconds(5);
  }

  @BeforeEach
  void open() {
    topics = new TopicIo(KAFKA.servers());
    admin = Admin.create(Map.of("bootstrap.servers", KAFKA.servers()));
    KAFKA.broker().createTopic(events, 1);
  }

  @AfterEach
  void close() {
    admin.close();
    topics.close();
  }

  private KafkaOptions options(String... more) {
    return TestJobs.kafkaOptions(
        KAFKA.servers(),
        TestJobs.OFTEN,
        List.of(
            "--events-topic=" + events,
            "--accepted-topic=" + acceptedOption,
            "--duplicates-topic=" + name + ".duplicates",
            "--dead-letters-topic=" + name + ".dead-letters",
            "--snapshots-topic=" + name + ".snapshots"),
        more);
  }

  private JobClient dedup(Configuration settings, String... more) throws Exception {
    StreamExecutionEnvironment env = FLINK.environment(settings);
    JobMain.buildOnKafka(env, Job.DEDUP, options(more), JobOptions.parse());
    return env.executeAsync();
  }

  private JobClient snapshots(Configuration settings, String... more) throws Exception {
    return TestJobs.submitSnapshots(FLINK.cluster(), options(more), settings);
  }

  private String stop(JobClient job) throws Exception {
    return FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);
  }

  private void send(String prefix, int count) throws Exception {
    send("add", prefix, count);
  }

  private void send(String operation, String prefix, int count) throws Exception {
    topics.send(
        events,
        1,
        IntStream.range(0, count)
            .mapToObj(
                i ->
                    "{\"ts\":1700000000000,\"op\":\"%s\",\"key\":\"%s%d\"}"
                        .formatted(operation, prefix, i))
            .toList());
  }

  private void awaitAccepted(int count) throws Exception {
    topics.await(accepted, READ_COMMITTED, count);
  }

  private void trim(String topic, long offset) throws Exception {
    admin
        .deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(offset)))
        .all()
        .get();
  }

  private void configure(String topic, String setting, String value) throws Exception {
    admin
        .incrementalAlterConfigs(
            Map.of(
                new ConfigResource(ConfigResource.Type.TOPIC, topic),
                List.of(new AlterConfigOp(new ConfigEntry(setting, value), OpType.SET))))
        .all()
        .get();
  }

  private void delete(String topic) throws Exception {
    admin.deleteTopics(List.of(topic)).all().get();
  }

  /** A job's savepoint after ten keys. */
  private String savepointOfTen() throws Exception {
    JobClient job = dedup(new Configuration());
    send("k", 10);
    awaitAccepted(10);
    return stop(job);
  }

  @Test
  void aTopicOfEventsThatWasCreatedAgainEndsTheJobOrIsReadFromItsBeginning() throws Exception {
    String savepoint = savepointOfTen();
    delete(events);
    KAFKA.broker().createTopic(events, 1);
    send("new", 40);
    assertThat(failure(dedup(fromSavepoint(savepoint))))
        .matches(
            "the job reads topic %s with the id %s, and the topic of this name now has the id %s, because it was deleted and recreated: start the job with --accept-new-topic to read the new topic from its beginning; unread records of the old topic are lost"
                .formatted(events, ID, ID));
    JobClient job = dedup(fromSavepoint(savepoint), "--accept-new-topic");
    awaitAccepted(50);
    savepoint = stop(job);
    job = dedup(fromSavepoint(savepoint));
    send("more", 1);
    awaitAccepted(51);
    cancel(job);
  }

  @Tag("slow")
  @Test
  void aTopicOfEventsThatIsGoneEndsTheJob() throws Exception {
    KAFKA.broker().createTopic(events + ".other", 1);
    String both = "--events-topic=" + events + ".other";
    JobClient job = dedup(new Configuration(), both);
    send("k", 10);
    awaitAccepted(10);
    String savepoint = stop(job);
    delete(events + ".other");
    String gone =
        "the job reads topic %s.other with the id %s, and it no longer exists: "
                .formatted(events, ID)
            + "start the job with --accept-new-topic to read the other topics; .*";
    assertThat(failure(dedup(fromSavepoint(savepoint)))).matches(gone);
    job = dedup(fromSavepoint(savepoint), "--accept-new-topic");
    send("more", 1);
    awaitAccepted(11);
    cancel(job);
  }

  /** Its offsets would be taken for those of the new one. */
  @Tag("slow")
  @Test
  void aTopicOfEventsThatIsCreatedAgainUnderARunningJobEndsIt() throws Exception {
    JobClient job = dedup(new Configuration());
    send("k", 10);
    awaitAccepted(10);
    delete(events);
    KAFKA.broker().createTopic(events, 1);
    send("new", 40);
    assertThat(failure(job)).contains("because it was deleted and recreated");
  }

  @Tag("slow")
  @ParameterizedTest
  // A single missing offset may have been the marker of a transaction.
  @CsvSource({"11, 0", "12, 2"})
  void deletedEventsThatWereNotReadEndTheJob(int trimmedTo, int skipped) throws Exception {
    String savepoint = savepointOfTen();
    send("new", 40);
    trim(events, trimmedTo);
    if (skipped > 0) {
      assertThat(failure(dedup(fromSavepoint(savepoint))))
          .isEqualTo(
              "the job resumes partition 0 of topic %s at offset 10, and the topic has the offsets from %d to 50: %d offsets were deleted before they were read (start from state whose offsets the topic still has, or start with --allow-skipped-offsets to read from offset %2$d; keep records for longer than the job may be down or behind)"
                  .formatted(events, trimmedTo, skipped));
    }
    JobClient job =
        skipped == 0
            ? dedup(fromSavepoint(savepoint))
            : dedup(fromSavepoint(savepoint), "--allow-skipped-offsets");
    awaitAccepted(60 - trimmedTo);
    cancel(job);
  }

  @Test
  void aTopicThatTheJobWroteMustExistWhenItStartsFromState() throws Exception {
    String savepoint = savepointOfTen();
    delete(accepted);
    String gone = " does not exist at " + KAFKA.servers() + ", but the state";
    assertThatThrownBy(() -> dedup(fromSavepoint(savepoint)))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("topic " + accepted + gone, "--accept-new-topic");
    assertThat(topics.exists(accepted)).isFalse();
    String misspelt = accepted + "t";
    acceptedOption = misspelt;
    assertThatThrownBy(() -> dedup(fromSavepoint(savepoint)))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("topic " + misspelt + gone, "--accept-new-topic");
    KAFKA.create(misspelt, "compact");
    KAFKA.create(misspelt + ".claims", "compact");
    assertThat(failure(dedup(fromSavepoint(savepoint))))
        .isEqualTo(
            "--accepted-topic is %s, but the job of the state wrote to topic %s: start the job with --accepted-topic %2$s, or with --accept-new-topic to write to a different topic, which has no earlier records"
                .formatted(misspelt, accepted));

    acceptedOption = accepted;
    KAFKA.create(accepted, "compact");
    assertThat(failure(dedup(fromSavepoint(savepoint))))
        .matches(
            "topic %s \\(--accepted-topic\\) was deleted and recreated: its id is %s, and the last job used the topic with the id %2$s \\(start the job with --accept-new-topic .*"
                .formatted(accepted, ID));
    JobClient job = dedup(fromSavepoint(savepoint), "--accept-new-topic");
    send("new", 5);
    awaitAccepted(5);
    cancel(job);
  }

  @Tag("slow")
  @Test
  void aTopicOfDeadLettersThatIsGoneEndsTheJobToo() throws Exception {
    String savepoint = savepointOfTen();
    delete(name + ".dead-letters");
    KAFKA.create(name + ".dead-letters", "delete");
    assertThat(failure(dedup(fromSavepoint(savepoint))))
        .contains("(--dead-letters-topic) was deleted and recreated");
  }

  @Tag("slow")
  @Test
  void aTopicThatIsDeletedUnderTheJobThatWritesItEndsTheJob() throws Exception {
    // The producer may wait for the topic before the next checkpoint.
    JobClient job =
        dedup(
            new Configuration(),
            "--kafka-property=max.block.ms=5000",
            "--kafka-property=request.timeout.ms=2000",
            "--kafka-property=delivery.timeout.ms=3000");
    send("k", 10);
    awaitAccepted(10);
    delete(accepted);
    send("new", 10);
    assertThat(failure(job))
        .isEqualTo(
            "topic %s (--accepted-topic), which the job uses, no longer exists: start the job with --accept-new-topic to use a new topic, which has no earlier records"
                .formatted(accepted));
  }

  @Tag("slow")
  @Test
  void moreAcceptedPartitionsEndTheJobAndTheFirstOnesCanBeKept() throws Exception {
    JobClient job = dedup(new Configuration());
    send("k", 40);
    awaitAccepted(40);
    String savepoint = job.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
    admin.createPartitions(Map.of(accepted, NewPartitions.increaseTo(4))).all().get();
    String more =
        "the job has written to 1 partitions of topic %s, and would now write to 4, so the tombstone of a key could be in a different partition, and compaction would keep the key: start the job with --accepted-partitions 1"
            .formatted(accepted);
    assertThat(failure(job)).isEqualTo(more);
    assertThat(failure(dedup(fromSavepoint(savepoint)))).isEqualTo(more);
    assertThat(failure(dedup(fromSavepoint(savepoint), "--accepted-partitions=5")))
        .isEqualTo(
            "--accepted-partitions must be at most 4, the number of partitions of topic %s, got 5"
                .formatted(accepted));
    job = dedup(fromSavepoint(savepoint), "--accepted-partitions=1");
    send("delete", "k", 40);
    awaitAccepted(80);
    assertThat(topics.readCommitted(accepted)).allMatch(record -> record.partition() == 0);
    cancel(job);
  }

  @Tag("slow")
  @ParameterizedTest
  @ValueSource(strings = {"accepted", "duplicates", "dead-letters"})
  void aTopicThatTakesSmallerRecordsThanBeforeEndsTheJob(String topic) throws Exception {
    JobClient job = dedup(new Configuration());
    send("k", 1);
    awaitAccepted(1);
    configure(name + "." + topic, "max.message.bytes", "3000");
    String large = "\"x\":\"" + "y".repeat(5_000) + "\"}";
    topics.send(
        events,
        1,
        List.of(
            switch (topic) {
              case "accepted" -> "{\"ts\":1700000000000,\"op\":\"add\",\"key\":\"big\"," + large;
              case "duplicates" -> "{\"ts\":1700000000000,\"op\":\"add\",\"key\":\"k0\"," + large;
              default -> "{" + large;
            }));
    assertThat(failure(job))
        // Of the callback of the send, or of the flush that came before it.
        .containsPattern("^(Failed to send data|cannot write) to .*%s.%s".formatted(name, topic))
        .contains("increase max.message.bytes of the topic to at least 1000000");
  }

  @Tag("slow")
  @Test
  void doctorReportsWhatAStartFromStateWouldMiss() throws Exception {
    JobClient job = dedup(new Configuration());
    send("k", 10);
    awaitAccepted(10);
    await("the offset is committed")
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                new OffsetAndMetadata(10)
                    .equals(
                        admin
                            .listConsumerGroupOffsets("firstseen." + accepted)
                            .partitionsToOffsetAndMetadata()
                            .get()
                            .get(new TopicPartition(events, 0))));
    cancel(job);
    assertThat(problems()).isEmpty();
    send("new", 40);
    trim(events, 40);
    assertThat(problems())
        .containsExactly(
            "the job resumes partition 0 of topic %s at offset 10, and the topic has the offsets from 40 to 50: a start from state fails without --allow-skipped-offsets, unless the state is newer"
                .formatted(events));
  }

  @Test
  void doctorReportsTopicsThatAreNotThoseOfTheState() throws Exception {
    String unused = savepointOfTen();
    admin.createPartitions(Map.of(accepted, NewPartitions.increaseTo(3))).all().get();
    assertThat(problems())
        .singleElement(InstanceOfAssertFactories.STRING)
        .startsWith("the job has written to 1 partitions of topic " + accepted)
        .endsWith("--accepted-partitions 1");
    delete(accepted);
    assertThat(problems())
        .singleElement(InstanceOfAssertFactories.STRING)
        .startsWith("topic %s (--accepted-topic), which".formatted(accepted));
    KAFKA.create(accepted, "compact");
    assertThat(problems())
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("(--accepted-topic) was deleted and recreated");
  }

  @Tag("slow")
  @Test
  void doctorReportsATopicOfEventsThatWasCreatedAgain() throws Exception {
    String unused = savepointOfTen();
    delete(events);
    KAFKA.broker().createTopics(List.of(new NewTopic(events, 1, (short) 1)));
    assertThat(problems())
        .singleElement(InstanceOfAssertFactories.STRING)
        .contains("topic %1$s (--events-topic=%1$s) was deleted and recreated".formatted(events));
  }

  /** The findings about offsets and partitions of topics. */
  private List<String> problems() {
    List<String> problems = new ArrayList<>();
    Preflight.report(
        new JobNeeds(JobNeeds.Job.DEDUP, options(), JobOptions.parse()),
        "firstseen",
        List.of(),
        level -> "",
        finding -> {
          if (finding.status() != Finding.Status.OK) {
            problems.add(finding.text());
          }
        });
    return problems;
  }

  @Test
  void deletedChangesThatWereNotReadEndTheSnapshotJob() throws Exception {
    try (AcceptedKeys keys = new AcceptedKeys(KAFKA.servers(), accepted)) {
      KAFKA.create(accepted, "compact");
      JobClient job = snapshots(new Configuration(), "--max-downtime=1s");
      keys.add("k", 1_000);
      keys.add("k", 3_000);
      keys.flush();
      topics.readUntil(name + ".snapshots", READ_UNCOMMITTED, records -> !records.isEmpty());
      String savepoint = stop(job);
      for (int i = 0; i < 10; i++) {
        keys.add("new" + i, 4_000);
      }
      keys.flush();
      configure(accepted, "cleanup.policy", "delete");
      trim(accepted, 8);
      configure(accepted, "cleanup.policy", "compact");
      assertThat(failure(snapshots(fromSavepoint(savepoint), "--max-downtime=1s")))
          .contains("of topic " + accepted + " at offset 2, and the topic has the offsets from 8");
      cancel(snapshots(fromSavepoint(savepoint), "--max-downtime=1s", "--allow-skipped-offsets"));
      delete(accepted);
      KAFKA.create(accepted, "compact");
      assertThat(failure(snapshots(fromSavepoint(savepoint), "--max-downtime=1s")))
          .contains("the job reads topic " + accepted, "because it was deleted and recreated");
    }
  }
}
