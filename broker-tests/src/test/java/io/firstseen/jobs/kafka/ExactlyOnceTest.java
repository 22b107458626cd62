package io.firstseen.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.kafka.common.IsolationLevel.READ_COMMITTED;
import static org.apache.kafka.common.IsolationLevel.READ_UNCOMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.fixtures.EventStream;
import io.firstseen.fixtures.TopicIo;
import io.firstseen.jobs.JobMain;
import io.firstseen.jobs.SnapshotJob;
import io.firstseen.jobs.kafka.JobNeeds.Job;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The jobs on a real broker: failures, restarts, other parallelisms. */
class ExactlyOnceTest {

  private static final int KEYS = 700;

  @RegisterExtension private static final SharedBroker TUNED = SharedBroker.tuned();
  @RegisterExtension private static final SharedBroker STOCK = SharedBroker.stock();
  @RegisterExtension private static final SharedCluster FLINK = SharedCluster.ofSlots(5);

  @TempDir private static Path directory;

  @Test
  void aFailureInMidStreamLeavesNoTraceForCommittedReaders() throws Exception {
    aFailureInMidStreamLeavesNoTrace(STOCK.broker(), "rocksdb");
  }

  @Tag("slow")
  @Test
  void aFailureInMidStreamLeavesNoTraceOnAnotherBrokerAndBackend() throws Exception {
    aFailureInMidStreamLeavesNoTrace(TUNED.broker(), "heap");
  }

  private static void aFailureInMidStreamLeavesNoTrace(EmbeddedBroker kafka, String backend)
      throws Exception {
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      EventStream stream = new EventStream(11, KEYS);
      List<String> before = stream.next(2_000);
      List<String> lost = stream.next(1_500);
      List<String> after = stream.next(1_500);
      EventStream.Model model = new EventStream.Model();

      // Only the triggered checkpoints commit.
      String failing = SharedBroker.unused("failing");
      createEvents(kafka, failing, 1);
      String calm = SharedBroker.unused("calm");
      createEvents(kafka, calm, 1);
      JobClient job = pipeline(kafka, failing, 1, backend, new Configuration());
      topics.send(failing + ".events", 1, before);
      topics.await(failing + ".accepted", READ_UNCOMMITTED, model.apply(before).accepted);
      FLINK.cluster().triggerCheckpoint(job);
      topics.await(failing + ".accepted", READ_COMMITTED, model.accepted);
      int acceptedAndCommitted = model.accepted;
      topics.send(failing + ".events", 1, lost);
      topics.await(failing + ".accepted", READ_UNCOMMITTED, model.apply(lost).accepted);
      int acceptedAndLost = model.accepted - acceptedAndCommitted;
      FLINK.cluster().replaceTaskManager();
      topics.send(failing + ".events", 1, after);
      model.apply(after);
      FLINK.cluster().awaitRunning(job);
      // Records after the last checkpoint are written a second time.
      int writtenTwice = model.accepted + acceptedAndLost;
      topics.await(failing + ".accepted", READ_UNCOMMITTED, writtenTwice);
      FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.CANONICAL, true);

      topics.send(calm + ".events", 1, before);
      topics.send(calm + ".events", 1, lost);
      topics.send(calm + ".events", 1, after);
      KafkaOptions bounded = kafkaOptions(kafka, calm).stopAt(topics.ends(calm + ".events"));
      StreamExecutionEnvironment env = FLINK.environment();
      JobMain.buildOnKafka(env, Job.PIPELINE, bounded, jobOptions(1, backend));
      env.execute();

      for (String topic : List.of("accepted", "duplicates", "dead-letters")) {
        List<String> ofFailing = committed(topics, failing + "." + topic);
        List<String> ofCalm = committed(topics, calm + "." + topic);
        if (topic.equals("duplicates")) {
          // Two streams meet there, each in its order.
          Collections.sort(ofFailing);
          Collections.sort(ofCalm);
        }
        assertThat(ofFailing.equals(ofCalm))
            .as("%s: %d and %d records", topic, ofFailing.size(), ofCalm.size())
            .isTrue();
      }
      assertThat(committed(topics, calm + ".accepted")).hasSize(model.accepted);
      assertThat(committed(topics, calm + ".duplicates")).hasSize(model.repeats);
      assertThat(committed(topics, calm + ".dead-letters")).hasSize(model.deadLetters);
      // The control: records had been written when the job failed; a read_uncommitted consumer sees
      // them.
      assertThat(topics.read(failing + ".accepted", READ_UNCOMMITTED)).hasSize(writtenTwice);
      assertThat(topics.read(calm + ".accepted", READ_UNCOMMITTED)).hasSize(model.accepted);
      assertSnapshotHolds(kafka, failing, model.live);
      assertSnapshotHolds(kafka, calm, model.live);
    }
  }

  @Tag("slow")
  @Test
  void aSavepointOfTwoTasksGoesOnWithThreeWithoutForgettingAKey() throws Exception {
    aSavepointOfTwoTasksGoesOnWith(3, "rocksdb");
  }

  @Tag("slow")
  @Test
  void aSavepointOfTwoTasksGoesOnWithOneWithoutForgettingAKey() throws Exception {
    aSavepointOfTwoTasksGoesOnWith(1, "heap");
  }

  private static void aSavepointOfTwoTasksGoesOnWith(int parallelism, String backend)
      throws Exception {
    EmbeddedBroker kafka = STOCK.broker();
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      EventStream stream = new EventStream(12, KEYS);
      List<String> before = stream.next(4_000);
      EventStream.Model model = new EventStream.Model().apply(before);
      String s = SharedBroker.unused("rescaled");
      createEvents(kafka, s, 4);
      topics.send(s + ".events", 4, before);
      JobClient job = pipeline(kafka, s, 2, backend, new Configuration());
      topics.await(s + ".accepted", READ_UNCOMMITTED, model.accepted);
      String savepoint =
          FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);
      assertThat(committed(topics, s + ".accepted")).hasSize(model.accepted);

      JobClient restored =
          pipeline(kafka, s, parallelism, backend, TestJobs.fromSavepoint(savepoint));
      Set<String> live = new LinkedHashSet<>(model.live);
      List<String> again = stream.adds(live);
      topics.send(s + ".events", 4, again);
      List<String> more = stream.next(2_000);
      topics.send(s + ".events", 4, more);
      model.apply(again).apply(more);
      topics.await(s + ".accepted", READ_UNCOMMITTED, model.accepted);
      topics.await(s + ".duplicates", READ_UNCOMMITTED, model.repeats);
      FLINK.cluster().stopWithSavepoint(restored, SavepointFormatType.CANONICAL, true);

      assertThat(committed(topics, s + ".accepted")).hasSize(model.accepted);
      assertThat(committed(topics, s + ".duplicates")).hasSize(model.repeats);
      assertThat(committed(topics, s + ".dead-letters")).hasSize(model.deadLetters);
      assertSnapshotHolds(kafka, s, model.live);
    }
  }

  /** An intermediate savepoint is a checkpoint whose commit never comes. */
  @Tag("slow")
  @Test
  void whatAFailureLeftBetweenTheCheckpointAndItsCommitIsCommittedAfterwards() throws Exception {
    EmbeddedBroker kafka = STOCK.broker();
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      EventStream stream = new EventStream(16, KEYS);
      List<String> before = stream.next(1_000);
      List<String> after = stream.next(1_000);
      EventStream.Model model = new EventStream.Model().apply(before);
      String between = SharedBroker.unused("between");
      createEvents(kafka, between, 1);
      topics.send(between + ".events", 1, before);
      JobClient job = pipeline(kafka, between, 1, "heap", new Configuration());
      topics.await(between + ".accepted", READ_UNCOMMITTED, model.accepted);
      String savepoint = job.triggerSavepoint(null, SavepointFormatType.CANONICAL).get();
      TestJobs.cancel(job);

      topics.send(between + ".events", 1, after);
      JobClient restored = pipeline(kafka, between, 1, "heap", TestJobs.fromSavepoint(savepoint));
      topics.await(between + ".accepted", READ_UNCOMMITTED, model.apply(after).accepted);
      FLINK.cluster().stopWithSavepoint(restored, SavepointFormatType.CANONICAL, true);
      assertThat(committed(topics, between + ".accepted")).hasSize(model.accepted);
      assertThat(committed(topics, between + ".duplicates")).hasSize(model.repeats);
      assertSnapshotHolds(kafka, between, model.live);
    }
  }

  @Test
  void dedupAndSnapshotsAsTwoJobsAgreeWithTheModel() throws Exception {
    EmbeddedBroker kafka = TUNED.broker();
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      List<String> events = new EventStream(13, KEYS).next(3_000);
      EventStream.Model model = new EventStream.Model().apply(events);
      String two = SharedBroker.unused("two");
      createEvents(kafka, two, 2);
      topics.send(two + ".events", 2, events);
      StreamExecutionEnvironment dedup = FLINK.environment();
      JobMain.buildOnKafka(
          dedup,
          Job.DEDUP,
          kafkaOptions(kafka, two).stopAt(topics.ends(two + ".events")),
          jobOptions(1, "heap"));
      dedup.execute();
      assertThat(committed(topics, two + ".accepted")).hasSize(model.accepted);

      StreamExecutionEnvironment snapshots = FLINK.environment();
      JobMain.buildOnKafka(
          snapshots,
          Job.SNAPSHOTS,
          kafkaOptions(kafka, two).stopAt(topics.ends(two + ".accepted")),
          jobOptions(1, "heap"));
      assertThat(SnapshotJob.operations(snapshots.execute().getAllAccumulatorResults()))
          .isEqualTo(model.accepted);
      assertSnapshotHolds(kafka, two, model.live);
    }
  }

  @Test
  void theLargestEventPassesAndALargerOneIsADeadLetter() throws Exception {
    EmbeddedBroker kafka = STOCK.broker();
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      String start =
          "{\"ts\":1,\"op\":\"add\",\"key\":\"%s\",\"scope\":\"%s\",\"x\":\""
              .formatted("k".repeat(65_536), "s".repeat(65_536));
      String largest = start + "x".repeat(800 * 1024 - start.length() - 2) + "\"}";
      String larger = start + "x".repeat(1_000_000 - start.length()) + "\"}";
      String large = SharedBroker.unused("large");
      createEvents(kafka, large, 1);
      topics.send(large + ".events", 1, List.of(largest, largest, larger));
      StreamExecutionEnvironment env = FLINK.environment();
      JobMain.buildOnKafka(
          env,
          Job.PIPELINE,
          kafkaOptions(kafka, large).stopAt(topics.ends(large + ".events")),
          jobOptions(1, "heap"));
      env.execute();
      assertThat(committed(topics, large + ".accepted")).hasSize(1);
      assertThat(committed(topics, large + ".duplicates")).hasSize(1);
      assertThat(committed(topics, large + ".dead-letters")).hasSize(1);
    }
  }

  @Tag("slow")
  @Test
  void aStreamThatFallsSilentStillPublishesItsNewestWindow() throws Exception {
    EmbeddedBroker kafka = TUNED.broker();
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      List<String> events = new EventStream(14, KEYS).next(1_000);
      EventStream.Model model = new EventStream.Model().apply(events);
      // Two of three tasks have a partition, and one of the two partitions has no event.
      String quiet = SharedBroker.unused("quiet");
      createEvents(kafka, quiet, 2);
      topics.send(quiet + ".events", 1, events);
      StreamExecutionEnvironment env = FLINK.environment();
      KafkaOptions options =
          KafkaOptions.parse(
              "--bootstrap-servers=" + kafka.bootstrapServers(),
              "--checkpoint-interval=300ms",
              "--events-topic=" + quiet + ".events",
              "--transactional-id-prefix=" + quiet,
              "--accepted-topic=" + quiet + ".accepted",
              "--duplicates-topic=" + quiet + ".duplicates",
              "--dead-letters-topic=" + quiet + ".dead-letters",
              "--snapshots-topic=" + quiet + ".snapshots");
      JobMain.buildOnKafka(
          env,
          Job.PIPELINE,
          options,
          JobOptions.parse("--parallelism=3", "--window=1d", "--idle-timeout=1s"));
      JobClient job = env.executeAsync();
      assertSnapshotHolds(kafka, quiet, model.live);
      TestJobs.cancel(job);
    }
  }

  /** Who reads the snapshots does not have the key that the dedup decides by. */
  @Tag("slow")
  @Test
  void snapshotsUnderThePublicKeyComeFromADedupUnderASecretOne() throws Exception {
    EmbeddedBroker kafka = TUNED.broker();
    KeyHash secret = KeyHash.parse("9f03c7716ee24ab85d1c90f2a63b47de");
    Path keyFile =
        Files.writeString(
            Files.createTempFile(directory, "hash", ".key"), "9f03c7716ee24ab85d1c90f2a63b47de");
    String ofDedup = "--hash-key-file=" + keyFile;
    String ofSnapshots = "--snapshot-hash-key-file=public";
    try (TopicIo topics = new TopicIo(kafka.bootstrapServers())) {
      EventStream stream = new EventStream(17, KEYS);
      List<String> before = stream.next(1_000);
      List<String> after = stream.next(500);
      EventStream.Model model = new EventStream.Model().apply(before);
      String keys = SharedBroker.unused("keys");
      createEvents(kafka, keys, 1);
      topics.send(keys + ".events", 1, before);
      Configuration start = new Configuration();
      JobClient job = pipeline(kafka, keys, 2, "heap", start, ofDedup, ofSnapshots);
      topics.await(keys + ".accepted", READ_UNCOMMITTED, model.accepted);
      String savepoint =
          FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.CANONICAL, false);

      start = TestJobs.fromSavepoint(savepoint);
      job = pipeline(kafka, keys, 2, "heap", start, ofDedup);
      assertThat(job.getJobExecutionResult())
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableOfType(ExecutionException.class)
          .havingRootCause()
          .withMessageStartingWith(
              "the state to restore belongs to another set: it holds set firstseen")
          .withMessageContaining("with key check %016x, ", KeyHash.fixed().keyCheck())
          .withMessageContaining("with key check %016x, ", secret.keyCheck());

      topics.send(keys + ".events", 1, after);
      job = pipeline(kafka, keys, 2, "heap", start, ofDedup, ofSnapshots);
      topics.await(keys + ".accepted", READ_UNCOMMITTED, model.apply(after).accepted);
      topics.await(keys + ".duplicates", READ_UNCOMMITTED, model.repeats);
      FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.CANONICAL, true);
      assertThat(committed(topics, keys + ".accepted")).hasSize(model.accepted);
      assertSnapshotHolds(kafka, keys, model.live);

      SnapshotClientOptions wrong =
          SnapshotClientOptions.builder(kafka.bootstrapServers(), "firstseen")
              .topic(keys + ".snapshots")
              .keyHash(secret)
              .build();
      try (SnapshotClient client = SnapshotClient.start(wrong)) {
        await("a refusal of the key of the dedup")
            .atMost(Duration.ofSeconds(30))
            .until(() -> client.status().trouble().isPresent());
        assertThat(client.status().trouble().orElseThrow())
            .contains("(the public key)", "configure the hash key that the publisher uses");
        assertThat(client.status().snapshot()).isEmpty();
      }
    }
  }

  private static void assertSnapshotHolds(EmbeddedBroker kafka, String name, Set<String> live)
      throws Exception {
    SnapshotClientOptions options =
        SnapshotClientOptions.builder(kafka.bootstrapServers(), "firstseen")
            .topic(name + ".snapshots")
            .build();
    try (SnapshotClient client = SnapshotClient.start(options)) {
      // A commit is told before all readers see it.
      await("a snapshot of " + live.size() + " keys")
          .atMost(Duration.ofSeconds(30))
          .until(() -> client.manifest().filter(m -> m.count() == live.size()).isPresent());
      for (String key : live) {
        if (!client.mightContain(key)) {
          throw new AssertionError(key + " is absent");
        }
      }
      int falsePositives = 0;
      for (int i = 0; i < 10_000; i++) {
        falsePositives += client.mightContain("http://example.com/absent/" + i) ? 1 : 0;
      }
      assertThat(falsePositives).isLessThanOrEqualTo(30);
    }
  }

  private static JobOptions jobOptions(int parallelism, String backend, String... more) {
    // At this rate none of these few keys is dropped, so the exact model applies.
    List<String> words =
        List.of(
            "--fpr=0.0000001",
            "--snapshot-fpr=0.001",
            "--capacity=100000",
            "--window=10m",
            "--parallelism=" + parallelism,
            "--state-backend=" + backend);
    return JobOptions.parse(Stream.concat(words.stream(), Stream.of(more)).toArray(String[]::new));
  }

  private static KafkaOptions kafkaOptions(EmbeddedBroker kafka, String name) {
    return KafkaOptions.parse(
        "--bootstrap-servers=" + kafka.bootstrapServers(),
        "--checkpoint-interval=10m",
        "--transactional-id-prefix=" + name,
        "--events-topic=" + name + ".events",
        "--accepted-topic=" + name + ".accepted",
        "--duplicates-topic=" + name + ".duplicates",
        "--dead-letters-topic=" + name + ".dead-letters",
        "--snapshots-topic=" + name + ".snapshots");
  }

  private static void createEvents(EmbeddedBroker kafka, String name, int partitions) {
    kafka.createTopics(List.of(new NewTopic(name + ".events", partitions, (short) 1)));
  }

  private static JobClient pipeline(
      EmbeddedBroker kafka,
      String name,
      int parallelism,
      String backend,
      Configuration settings,
      String... more)
      throws Exception {
    StreamExecutionEnvironment env = FLINK.environment(settings);
    JobMain.buildOnKafka(
        env, Job.PIPELINE, kafkaOptions(kafka, name), jobOptions(parallelism, backend, more));
    return env.executeAsync(name);
  }

  private static List<String> committed(TopicIo topics, String topic) throws Exception {
    List<String> records = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record : topics.readCommitted(topic)) {
      StringBuilder text = new StringBuilder();
      text.append(record.key() == null ? "no key" : new String(record.key(), UTF_8));
      text.append(" = ")
          .append(record.value() == null ? "null" : new String(record.value(), UTF_8));
      record
          .headers()
          .forEach(
              header -> {
                // Places name the topic, which the runs do not share.
                if (!header.key().equals("firstseen.place")) {
                  text.append(", ").append(header.key()).append(' ');
                  text.append(HexFormat.of().formatHex(header.value()));
                }
              });
      records.add(text.toString());
    }
    return records;
  }
}
